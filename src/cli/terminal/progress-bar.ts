import { type Clock, systemClock } from '../../common/clock.ts'
import { LiveRegion } from './live-region.ts'

const BAR_WIDTH = 30
const FRAME_MS = 100

/** Progress of a long operation. */
export type ProgressBar = {
  /** Starts a phase, such as `reading`, that has `total` steps. */
  begin(phase: string, total: number): void
  step(): void
  /** Removes the bar. */
  end(): void
}

/** Returns a progress bar. It draws nothing if `output` is not a terminal. */
export function createProgressBar(output: NodeJS.WriteStream, clock: Clock = systemClock): ProgressBar {
  if (!output.isTTY) return { begin: () => {}, step: () => {}, end: () => {} }
  const region = new LiveRegion(output)
  let state = { phase: '', done: 0, total: 0, startedMs: 0 }
  let drawnMs = 0
  const draw = () => {
    drawnMs = clock.monotonicMs()
    region.draw([renderProgressBar({ ...state, elapsedMs: drawnMs - state.startedMs }).slice(0, region.width)])
  }
  return {
    begin(phase, total) {
      state = { phase, total, done: 0, startedMs: clock.monotonicMs() }
      draw()
    },
    step() {
      state.done += 1
      if (state.done === state.total || clock.monotonicMs() - drawnMs >= FRAME_MS) draw()
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
  readonly elapsedMs: number
}

/** `writing █████░░░░░ 50/100, 12 s left`. */
export function renderProgressBar({ phase, done, total, elapsedMs }: ProgressBarState): string {
  const fraction = total === 0 ? 1 : done / total
  const filled = Math.round(fraction * BAR_WIDTH)
  const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled)
  const leftMs = done === 0 ? undefined : (elapsedMs / done) * (total - done)
  const left = leftMs === undefined || done === total ? '' : `, ${Math.ceil(leftMs / 1_000)} s left`
  return `${phase} ${bar} ${done}/${total}${left}`
}
