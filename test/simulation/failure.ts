/** What went wrong in a history: a broken promise, or an error that no program caught. */
export type Failure = { readonly kind: 'violation' | 'error'; readonly message: string }

/** The same for histories that fail in the same way: the first line, because others show where the code is, without numbers. */
export function summarize({ kind, message }: Failure): string {
  return `${kind}: ${message.split('\n', 1)[0]!.replaceAll(/\d+/g, '#')}`
}
