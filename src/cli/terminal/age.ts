/** In the units of kubectl. */
export function ageOf(since: string, nowMs: number): string {
  if (since === '') return ''
  const seconds = Math.max(0, Math.floor((nowMs - Date.parse(since)) / 1_000))
  if (seconds < 120) return `${seconds}s`
  if (seconds < 7_200) return `${Math.floor(seconds / 60)}m`
  return seconds < 172_800 ? `${Math.floor(seconds / 3_600)}h` : `${Math.floor(seconds / 86_400)}d`
}
