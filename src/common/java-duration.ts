const DURATION =
  /^([-+]?)P(?:([-+]?\d+)D)?(?:T(?=[-+\d])(?:([-+]?\d+)H)?(?:([-+]?\d+)M)?(?:([-+]?\d+)(?:[.,](\d{0,9}))?S)?)?$/i

/** The milliseconds of a text such as `PT1H30M` or `P2D`, as Java's `Duration.parse` reads it, or undefined. */
export function parseJavaDuration(text: string): number | undefined {
  const [all, sign, days, hours, minutes, seconds, fraction] = DURATION.exec(text) ?? []
  if (all === undefined || /P$/i.test(all)) return undefined
  const part = `${seconds?.startsWith('-') ? '-' : ''}0.${fraction || '0'}`
  const whole = [days, hours, minutes, seconds].map((count) => Number(count ?? 0))
  const ms = whole[0]! * 86_400_000 + whole[1]! * 3_600_000 + whole[2]! * 60_000 + (whole[3]! + Number(part)) * 1_000
  return sign === '-' ? -ms : ms
}
