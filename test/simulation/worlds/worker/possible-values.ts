/** The values that something can have after requests of which some may have been lost, or may have an effect later. */
export type Possible<Value> = {
  acknowledged: Value
  /** Requests of which it is not known when they have an effect, if at all. */
  readonly attempts: { readonly value: Value; readonly atMs: number }[]
}

/** A request that nobody waits for any more has no effect after this time: the longest timeouts are those of forwarded requests. */
const EFFECT_MS_MAX = 150_000

export function possible<Value>(value: Value): Possible<Value> {
  return { acknowledged: value, attempts: [] }
}

export function noteAttempt<Value>(known: Possible<Value>, value: Value, atMs: number): void {
  known.attempts.push({ value, atMs })
}

/** The last attempt had its effect. Earlier ones may still have one. */
export function noteAcknowledged<Value>(known: Possible<Value>, value: Value, atMs: number): void {
  known.attempts.pop()
  known.acknowledged = value
  const pending = known.attempts.filter((attempt) => atMs - attempt.atMs < EFFECT_MS_MAX)
  known.attempts.splice(0, known.attempts.length, ...pending)
}

export function isPlausible<Value>({ acknowledged, attempts }: Possible<Value>, value: Value): boolean {
  return acknowledged === value || attempts.some((attempt) => attempt.value === value)
}
