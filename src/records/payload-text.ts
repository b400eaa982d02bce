const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The bytes as text; undefined unless they are UTF-8 without control characters, so that the text has exactly these bytes. */
export function textOfBytes(bytes: Uint8Array): string | undefined {
  try {
    const text = utf8.decode(bytes)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what the check is for
    return /[\0-\x08\x0e-\x1f]/.test(text) ? undefined : text
  } catch {
    return undefined
  }
}

/** Bytes as text if they are text, else in hexadecimal. */
export function bytesAsText(bytes: Uint8Array): { readonly form: 'text' | 'hex'; readonly text: string } {
  const text = textOfBytes(bytes)
  return text === undefined ? { form: 'hex', text: Buffer.from(bytes).toString('hex') } : { form: 'text', text }
}
