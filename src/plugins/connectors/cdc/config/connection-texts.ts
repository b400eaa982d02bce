/** The statements of `database.initial.statements`, in which two semicolons stand for one. */
export function initialStatements(text: string): readonly string[] {
  return text
    .split(/(?<!;);(?!;)/)
    .map((statement) => statement.replaceAll(';;', ';').trim())
    .filter((statement) => statement !== '')
}

/**
 * The hosts of `database.hostname`, which has several with commas between them. A colon in an IPv6 address is not the beginning of a
 * port, unless the address is in brackets.
 */
export function parseHosts(list: string, port: number): readonly { readonly host: string; readonly port: number }[] {
  return list.split(',').map((entry) => {
    const [, bracketed, bracketedPort] = /^\[([^\]]+)\](?::(\d+))?$/.exec(entry.trim()) ?? []
    if (bracketed !== undefined) return { host: bracketed, port: Number(bracketedPort ?? port) }
    const [, host, ownPort] = /^([^:]+):(\d+)$/.exec(entry.trim()) ?? []
    return host === undefined ? { host: entry.trim(), port } : { host, port: Number(ownPort) }
  })
}
