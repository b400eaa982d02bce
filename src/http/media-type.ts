/**
 * Selects the preferred type of `produced` (best first) for an `Accept` header; undefined if none is acceptable. See
 * RFC 9110, section 12.5.1; parameters other than `q` are ignored.
 */
export function negotiateMediaType(accept: string | undefined, produced: readonly string[]): string | undefined {
  if (accept === undefined || accept.trim() === '' || accept.trim() === '*/*') return produced[0]
  let best: { type: string; quality: number; precision: number } | undefined
  for (const range of accept.split(',')) {
    const { name, quality } = parseRange(range)
    const type = produced.find((candidate) => covers(name, candidate))
    if (type === undefined || quality === 0) continue
    const precision = name.endsWith('*') ? 0 : 1
    if (!best || quality > best.quality || (quality === best.quality && precision > best.precision)) {
      best = { type, quality, precision }
    }
  }
  return best?.type
}

function parseRange(range: string): { name: string; quality: number } {
  const [name = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
  const written = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
  const quality = written === undefined ? 1 : Number(written)
  return { name, quality: Number.isNaN(quality) ? 0 : quality }
}

function covers(range: string, type: string): boolean {
  return range === '*/*' || range === type || (range.endsWith('/*') && type.startsWith(range.slice(0, -1)))
}
