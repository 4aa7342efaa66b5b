// Options of a subcommand: `--name value` and `--flag`. An option that nobody asks for is an error,
// so that a misspelt one never goes unnoticed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gyre::load {

class Options {
 public:
  // Reads argv from `first` on. Ends the program on an argument that is no option.
  Options(int argc, char** argv, int first);

  [[nodiscard]] std::string text(std::string_view name, std::string_view otherwise);
  // Ends the program if the option is missing.
  [[nodiscard]] std::string required_text(std::string_view name);
  [[nodiscard]] std::uint64_t number(std::string_view name, std::uint64_t otherwise);
  [[nodiscard]] bool flag(std::string_view name);

  // Ends the program if an option was given that none of the calls above asked for.
  void finish() const;

 private:
  struct Given {
    std::string name;
    std::string value;
    bool has_value = false;
    bool is_used = false;
  };
  Given* find(std::string_view name);

  std::vector<Given> given_;
};

}  // namespace gyre::load
