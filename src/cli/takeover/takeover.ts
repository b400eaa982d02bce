/** A takeover by Weir, or the return to the other implementation. */
export type TakeoverGoal = 'takeover' | 'return'

/** One step of a takeover or return: what a person does, and how to go back from there. */
export type TakeoverStep = {
  readonly action: string
  /** Whether its result is true now. */
  readonly isDone: boolean
  /** How to go back to the state before the first step once this step is done. */
  readonly back: string
}

/** A takeover of a group of another implementation, or the return to it, derived from what is true now. */
export type Takeover = {
  readonly goal: TakeoverGoal
  readonly facts: readonly string[]
  readonly steps: readonly TakeoverStep[]
}

const NOTHING_CHANGED = 'Nothing has changed yet.'

/** Whether all steps are done. */
export function isComplete({ steps }: Takeover): boolean {
  return steps.every(({ isDone }) => isDone)
}

/** What is true now, the next step, and how to return from here. */
export function statusText(takeover: Takeover): string {
  const at = takeover.steps.findIndex(({ isDone }) => !isDone)
  const next = takeover.steps[at]
  const last = at < 0 ? takeover.steps.at(-1) : takeover.steps[at - 1]
  return [
    ...takeover.facts,
    `Next: ${next?.action ?? `Nothing: the ${takeover.goal} is complete.`}`,
    `Back: ${last?.back ?? NOTHING_CHANGED}`,
  ].join('\n')
}

/** All steps, of which the finished ones are marked. */
export function planText({ facts, steps }: Takeover): string {
  const lines = steps.flatMap(({ action, isDone, back }, index) => [
    `${index + 1}. [${isDone ? 'x' : ' '}] ${action}`,
    `       Back: ${back}`,
  ])
  return [...facts, '', ...lines].join('\n')
}
