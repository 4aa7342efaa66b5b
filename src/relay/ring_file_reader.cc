#include "relay/ring_file_reader.h"

namespace gyre::relay {

void RingFileReader::read(std::uint32_t number, const storage::File& file, std::uint64_t offset,
                          std::span<std::uint8_t> out, Owner& owner) {
  while (reads_.size() <= number) {
    reads_.push_back(std::make_unique<Read>());
    Read& made = *reads_.back();
    made.number = static_cast<std::uint32_t>(reads_.size() - 1);
    made.completion = runtime::bind<&Read::on_completion>(made);
  }
  Read& read = *reads_[number];
  read.owner = &owner;
  io_.submit_read(file.descriptor(), offset, out, read.completion);
}

}  // namespace gyre::relay
