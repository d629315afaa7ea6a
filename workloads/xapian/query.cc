// Indexes the paragraphs of a text and searches them.
//   query index DIRECTORY FILE      makes the index
//   query search DIRECTORY COUNT    makes so many queries and prints a sum of what they found
#include <xapian.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

static int index(const std::string& directory, const std::string& file) {
  std::ifstream in(file);
  if (!in) {
    std::cerr << "query: " << file << ": cannot be read\n";
    return 1;
  }
  Xapian::WritableDatabase database(directory, Xapian::DB_CREATE_OR_OVERWRITE);
  Xapian::TermGenerator generator;
  generator.set_stemmer(Xapian::Stem("en"));
  std::string line, paragraph;
  auto add = [&] {
    if (paragraph.empty()) return;
    Xapian::Document document;
    generator.set_document(document);
    generator.index_text(paragraph);
    document.set_data(paragraph);
    database.add_document(document);
    paragraph.clear();
  };
  while (std::getline(in, line)) {
    if (line.empty()) add();
    paragraph += line + '\n';
  }
  add();
  database.commit();
  return 0;
}

static int search(const std::string& directory, int count) {
  const std::vector<std::string> words = {"malloc",    "cache",  "entry",   "size",
                                          "class",     "list",   "pointer", "hardware",
                                          "allocator", "region", "object"};
  Xapian::Database database(directory);
  Xapian::QueryParser parser;
  parser.set_stemmer(Xapian::Stem("en"));
  parser.set_stemming_strategy(Xapian::QueryParser::STEM_SOME);
  parser.set_database(database);
  unsigned long found = 0, length = 0;
  for (int i = 0; i < count; ++i) {
    const std::string& first = words[i % words.size()];
    const std::string& second = words[(i * 7 + 3) % words.size()];
    const char* joiner = i % 3 == 0 ? " AND " : i % 3 == 1 ? " OR " : " NEAR ";
    Xapian::Enquire enquire(database);
    enquire.set_query(parser.parse_query(first + joiner + second));
    Xapian::MSet matches = enquire.get_mset(0, 10);
    found += matches.size();
    for (auto match = matches.begin(); match != matches.end(); ++match) {
      length += match.get_document().get_data().size();
    }
  }
  std::cout << count << " queries, " << found << " documents, " << length << " bytes\n";
  return 0;
}

int main(int argc, char** argv) try {
  const std::vector<std::string> args(argv + 1, argv + argc);
  if (args.size() == 3 && args[0] == "index") return index(args[1], args[2]);
  if (args.size() == 3 && args[0] == "search") return search(args[1], std::atoi(args[2].c_str()));
  std::cerr << "usage: query index DIRECTORY FILE | query search DIRECTORY COUNT\n";
  return 2;
} catch (const Xapian::Error& error) {
  std::cerr << "query: " << error.get_description() << '\n';
  return 1;
}
