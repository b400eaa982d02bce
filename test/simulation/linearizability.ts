/** What a client asked for, and when. A request without a response may have its effect at any later time, or never. */
export type Operation<Input, Output> = {
  readonly input: Input
  /** Undefined: the client knows no outcome. */
  readonly output: Output | undefined
  /** Positions in the order of events, each of which is used once. */
  readonly calledAt: number
  /** `Infinity` without a response. */
  readonly returnedAt: number
}

/** What an object does when requests are executed one at a time. */
export type SequentialModel<State, Input, Output> = {
  readonly initial: State
  /** The state after the request, or undefined if it cannot have this output in this state. */
  step(state: State, input: Input, output: Output | undefined): State | undefined
  /** The same text for equal states. */
  keyOf(state: State): string
}

type Entry<Input, Output> = {
  readonly operation: Operation<Input, Output>
  readonly number: number
  /** The entry of the return, if this is the one of the call. */
  readonly returned: Entry<Input, Output> | undefined
  previous: Entry<Input, Output> | undefined
  next: Entry<Input, Output> | undefined
}

/** More is a history whose check does not end: it has too many requests at the same time. */
const STEPS_MAX = 2_000_000

/**
 * Whether there is an order of the operations in which each takes effect between its call and its return and has the output that the
 * model gives. The algorithm of Wing and Gong with the memory of Lowe, as in Porcupine: it tries the operations that were called before the first
 * return, and never continues twice from the same set of operations with the same state.
 */
export function isLinearizable<State, Input, Output>(
  model: SequentialModel<State, Input, Output>,
  operations: readonly Operation<Input, Output>[],
): boolean {
  const head = linked(operations)
  const seen = new Set<string>()
  const chosen: { readonly call: Entry<Input, Output>; readonly before: State }[] = []
  let done = 0n
  let state = model.initial
  let steps = 0
  let entry = head.next
  while (head.next !== undefined) {
    steps += 1
    if (steps > STEPS_MAX)
      throw new Error(`the check of ${operations.length} operations takes more than ${STEPS_MAX} steps`)
    if (entry?.returned !== undefined) {
      const { input, output } = entry.operation
      const next = model.step(state, input, output)
      const after = done | (1n << BigInt(entry.number))
      const key = next === undefined ? '' : `${after} ${model.keyOf(next)}`
      if (next !== undefined && !seen.has(key)) {
        seen.add(key)
        chosen.push({ call: entry, before: state })
        state = next
        done = after
        lift(entry)
        entry = head.next
      } else entry = entry.next
      continue
    }
    // The first return is that of an operation that must be before it, and cannot: the last choice was wrong.
    const last = chosen.pop()
    if (last === undefined) return false
    state = last.before
    done &= ~(1n << BigInt(last.call.number))
    unlift(last.call)
    entry = last.call.next
  }
  return true
}

/** The calls and returns in their order. */
function linked<Input, Output>(operations: readonly Operation<Input, Output>[]): Entry<Input, Output> {
  const entries = operations.flatMap((operation, number) => {
    const returned: Entry<Input, Output> = {
      operation,
      number,
      returned: undefined,
      previous: undefined,
      next: undefined,
    }
    const called: Entry<Input, Output> = { ...returned, returned }
    return [
      { at: operation.calledAt, entry: called },
      { at: operation.returnedAt, entry: returned },
    ]
  })
  // Returns that never happened are last, in any order.
  entries.sort((one, other) => (one.at === other.at ? 0 : one.at - other.at))
  const head = { previous: undefined, next: undefined } as unknown as Entry<Input, Output>
  let last = head
  for (const { entry } of entries) {
    last.next = entry
    entry.previous = last
    last = entry
  }
  return head
}

/** Takes the call and the return of an operation out of the list. */
function lift<Input, Output>(call: Entry<Input, Output>): void {
  for (const entry of [call, call.returned!]) {
    entry.previous!.next = entry.next
    if (entry.next) entry.next.previous = entry.previous
  }
}

/** Puts them back where they were. */
function unlift<Input, Output>(call: Entry<Input, Output>): void {
  for (const entry of [call.returned!, call]) {
    entry.previous!.next = entry
    if (entry.next) entry.next.previous = entry
  }
}
