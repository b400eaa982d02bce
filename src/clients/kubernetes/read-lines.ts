/** Larger than the largest object that the API server accepts. */
const LINE_BYTES_MAX = 16 * 1024 * 1024

/** Yields the lines of a byte stream. An incomplete last line is dropped. */
export async function* readLines(stream: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let pieces: Buffer[] = []
  let bytes = 0
  for await (const chunk of stream) {
    let from = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      yield Buffer.concat([...pieces, chunk.subarray(from, end)]).toString()
      pieces = []
      bytes = 0
      from = end + 1
    }
    pieces.push(chunk.subarray(from))
    bytes += chunk.length - from
    if (bytes > LINE_BYTES_MAX) throw new Error(`a line has more than ${LINE_BYTES_MAX} bytes`)
  }
}
