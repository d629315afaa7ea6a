#include "span_tree.h"

namespace mallacc {

void SpanTree::insert(Span* span) {
  seed_ = seed_ * 1664525 + 1013904223;  // Numerical Recipes, "quick and dirty" generator
  span->priority = seed_;
  Span** link = &root_;
  while (*link != nullptr && (*link)->priority >= span->priority) {
    link = before(span, *link) ? &(*link)->left : &(*link)->right;
  }
  // The new node takes this place; what was below it is split into what lies before and after it.
  Span* rest = *link;
  *link = span;
  Span** less = &span->left;
  Span** more = &span->right;
  while (rest != nullptr) {
    if (before(rest, span)) {
      *less = rest;
      less = &rest->right;
      rest = rest->right;
    } else {
      *more = rest;
      more = &rest->left;
      rest = rest->left;
    }
  }
  *less = *more = nullptr;
}

void SpanTree::remove(Span* span) {
  Span** link = &root_;
  while (*link != span) link = before(span, *link) ? &(*link)->left : &(*link)->right;
  // Its two subtrees, merged, take its place.
  Span* left = span->left;
  Span* right = span->right;
  while (left != nullptr && right != nullptr) {
    if (left->priority >= right->priority) {
      *link = left;
      link = &left->right;
      left = left->right;
    } else {
      *link = right;
      link = &right->left;
      right = right->left;
    }
  }
  *link = left != nullptr ? left : right;
}

Span* SpanTree::best_fit(size_t pages) const {
  Span* best = nullptr;
  for (Span* node = root_; node != nullptr;) {
    if (node->pages >= pages) {
      best = node;
      node = node->left;
    } else {
      node = node->right;
    }
  }
  return best;
}

Span* SpanTree::longest() const {
  Span* node = root_;
  while (node != nullptr && node->right != nullptr) node = node->right;
  return node;
}

}  // namespace mallacc
