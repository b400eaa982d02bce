import { type Clock, systemClock } from '../../common/clock.ts'
import { LiveRegion } from './live-region.ts'

const BAR_WIDTH = 30
const FRAME_MS = 100

/** Progress of a long operation. */
export type ProgressBar = {
  /** Starts a phase, such as `reading`, that has `total` steps. */
  begin(phase: string, total: number): void
  step(): void
  /** Adds to the number of bytes that is shown. A phase that receives none shows the estimated time left instead. */
  receive(bytes: number): void
  /** Removes the bar. */
  end(): void
}

/** Returns a progress bar. It draws nothing if `output` is not a terminal. */
export function createProgressBar(output: NodeJS.WriteStream, clock: Clock = systemClock): ProgressBar {
  if (!output.isTTY) return { begin: () => {}, step: () => {}, receive: () => {}, end: () => {} }
  const region = new LiveRegion(output)
  let state = { phase: '', done: 0, total: 0, bytes: 0, startedMs: 0 }
  let drawnMs = 0
  const draw = () => {
    drawnMs = clock.monotonicMs()
    region.draw([renderProgressBar({ ...state, elapsedMs: drawnMs - state.startedMs }).slice(0, region.width)])
  }
  const isDue = () => clock.monotonicMs() - drawnMs >= FRAME_MS
  return {
    begin(phase, total) {
      state = { phase, total, done: 0, bytes: 0, startedMs: clock.monotonicMs() }
      draw()
    },
    step() {
      state.done += 1
      if (state.done === state.total || isDue()) draw()
    },
    receive(bytes) {
      state.bytes += bytes
      if (isDue()) draw()
    },
    end() {
      region.draw([])
      region.close()
    },
  }
}

type ProgressBarState = {
  readonly phase: string
  readonly done: number
  readonly total: number
  readonly bytes: number
  readonly elapsedMs: number
}

/** `writing █████░░░░░ 50/100, 12 s left`, or `downloading █████░░░░░ 5/10, 21.5 MiB`. */
export function renderProgressBar(state: ProgressBarState): string {
  const { phase, done, total } = state
  const fraction = total === 0 ? 1 : done / total
  const filled = Math.round(fraction * BAR_WIDTH)
  const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled)
  return `${phase} ${bar} ${[`${done}/${total}`, ...details(state)].join(', ')}`
}

/** Downloaded files differ in size, so their number does not indicate the time left. */
function details({ done, total, bytes, elapsedMs }: ProgressBarState): readonly string[] {
  if (bytes > 0) return [formatMebibytes(bytes)]
  if (done === 0 || done === total) return []
  return [`${Math.ceil(((elapsedMs / done) * (total - done)) / 1_000)} s left`]
}

export function formatMebibytes(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MiB`
}
