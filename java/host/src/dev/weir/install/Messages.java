package dev.weir.install;

import java.io.PrintStream;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** Lines to and from the command: a name and its values, separated by spaces and encoded as in a form. */
final class Messages {
  private final PrintStream output;

  Messages(PrintStream output) {
    this.output = output;
  }

  static List<String> parse(String line) {
    return Arrays.stream(line.split(" "))
        .map(part -> URLDecoder.decode(part, StandardCharsets.UTF_8))
        .toList();
  }

  synchronized void write(String... parts) {
    output.println(
        Arrays.stream(parts)
            .map(part -> URLEncoder.encode(part, StandardCharsets.UTF_8))
            .collect(Collectors.joining(" ")));
    output.flush();
  }
}
