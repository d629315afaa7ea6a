// Indexes the articles of an encyclopedia and searches them by title.
//   articles index full|abstracts DIRECTORY    articles on stdin: a title at the beginning of a
//                                              line, then indented lines and empty ones
//   articles search DIRECTORY COUNT            so many queries, each the words of a title
// An abstract is an article's first paragraph. The queries are titles of two words or more, spread
// over the collection; they are parsed before the first one runs, and
// the region of interest begins after a tenth of them.
#include <xapian.h>

#include <cctype>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "mallacc.h"

namespace {

struct Article {
  std::string title, abstract, text;
};

// Calls add for each article of the input.
void read(std::istream& in, const std::function<void(const Article&)>& add) {
  Article article;
  bool in_abstract = false;
  std::string line;
  while (std::getline(in, line)) {
    const bool empty = line.find_first_not_of(" \t") == std::string::npos;
    if (!empty && std::isspace(static_cast<unsigned char>(line[0])) == 0) {
      if (!article.text.empty()) {
        add(article);
        article = Article();
      }
      // Titles may go on over several lines; other names of the article follow after "%%%".
      article.title += (article.title.empty() ? "" : " ") + line;
      in_abstract = true;
      continue;
    }
    if (article.title.empty()) continue;
    if (empty) {
      if (!article.abstract.empty()) in_abstract = false;
      continue;
    }
    article.text += line + '\n';
    if (in_abstract) article.abstract += line + '\n';
  }
  if (!article.text.empty()) add(article);
}

int index(bool full, const std::string& directory) {
  Xapian::WritableDatabase database(directory, Xapian::DB_CREATE_OR_OVERWRITE);
  Xapian::TermGenerator generator;
  generator.set_stemmer(Xapian::Stem("en"));
  unsigned long count = 0;
  uint64_t sum = 0xcbf29ce484222325u;  // FNV-1a over what is indexed
  read(std::cin, [&](const Article& article) {
    const std::string title = article.title.substr(0, article.title.find("%%%"));
    if (title.compare(0, 11, "00-database") == 0) return;
    const std::string& text = full ? article.text : article.abstract;
    Xapian::Document document;
    generator.set_document(document);
    generator.index_text(title);
    generator.increase_termpos();
    generator.index_text(text);
    document.set_data(title + '\n' + text);
    database.add_document(document);
    for (const unsigned char byte : title + text) sum = (sum ^ byte) * 0x100000001b3u;
    ++count;
  });
  if (count == 0) {
    std::cerr << "articles: the input contains no articles\n";
    return 1;
  }
  database.commit();
  std::cout << count << " articles, checksum " << std::hex << sum << '\n';
  return 0;
}

int search(const std::string& directory, size_t count) {
  const Xapian::Database database(directory);
  Xapian::QueryParser parser;
  parser.set_stemmer(Xapian::Stem("en"));
  parser.set_stemming_strategy(Xapian::QueryParser::STEM_SOME);
  parser.set_database(database);
  std::vector<Xapian::Query> queries;
  // A step that shares no factor with the number of documents visits all of them.
  constexpr uint64_t kStep = 7919;
  const Xapian::doccount documents = database.get_doccount();
  for (uint64_t i = 0; queries.size() < count && i < documents; ++i) {
    const auto id = static_cast<Xapian::docid>(i * kStep % documents + 1);
    const std::string data = database.get_document(id).get_data();
    const std::string title = data.substr(0, data.find('\n'));
    if (title.find(' ') == std::string::npos) continue;
    std::string words;
    for (const char c : title) words += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : ' ';
    queries.push_back(parser.parse_query(words, 0));
  }
  // Query parsing is not part of the figures, nor is the first use of the index.
  const size_t warm = count / 10;
  unsigned long found = 0, length = 0;
  for (size_t i = 0; i < count; ++i) {
    if (i == warm) MALLACC_ROI_BEGIN();
    Xapian::Enquire enquire(database);
    enquire.set_query(queries[i % queries.size()]);
    Xapian::MSet matches = enquire.get_mset(0, 10);
    found += matches.size();
    for (auto match = matches.begin(); match != matches.end(); ++match) {
      length += match.get_document().get_data().size();
    }
  }
  MALLACC_ROI_END();
  std::cout << count << " queries, " << found << " documents, " << length << " bytes\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> args(argv + 1, argv + argc);
  if (args.size() == 3 && args[0] == "index") return index(args[1] == "full", args[2]);
  if (args.size() == 3 && args[0] == "search") {
    return search(args[1], std::strtoul(args[2].c_str(), nullptr, 10));
  }
  std::cerr << "usage: articles index full|abstracts DIRECTORY | articles search DIRECTORY COUNT\n";
  return 2;
} catch (const Xapian::Error& error) {
  std::cerr << "articles: " << error.get_description() << '\n';
  return 1;
}
