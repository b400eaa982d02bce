import { type Clock, systemClock } from '../../config/clock.ts'
import { LiveRegion } from './live-region.ts'

const BAR_WIDTH = 30
/** More frames than this a second nobody sees. */
const FRAME_MS = 100

/** How far a long piece of work has come. */
export type ProgressBar = {
  /** The work that begins now, such as `reading`, and how much of it there is. */
  begin(what: string, all: number): void
  step(): void
  /** Leaves the terminal in order. */
  end(): void
}

/** A bar on a terminal; in a pipe nothing. */
export function createProgressBar(output: NodeJS.WriteStream, clock: Clock = systemClock): ProgressBar {
  if (!output.isTTY) return { begin: () => {}, step: () => {}, end: () => {} }
  const screen = new LiveRegion(output)
  let now = { what: '', done: 0, all: 0, beganMs: 0 }
  let drawnMs = 0
  const draw = () => {
    drawnMs = clock.monotonicMs()
    screen.draw([renderProgressBar({ ...now, passedMs: drawnMs - now.beganMs }).slice(0, screen.width)])
  }
  return {
    begin(what, all) {
      now = { what, all, done: 0, beganMs: clock.monotonicMs() }
      draw()
    },
    step() {
      now.done += 1
      if (now.done === now.all || clock.monotonicMs() - drawnMs >= FRAME_MS) draw()
    },
    end() {
      screen.draw([])
      screen.close()
    },
  }
}

type ProgressBarState = {
  readonly what: string
  readonly done: number
  readonly all: number
  readonly passedMs: number
}

/** `writing █████░░░░░ 50/100, 12 s left`. */
export function renderProgressBar({ what, done, all, passedMs }: ProgressBarState): string {
  const part = all === 0 ? 1 : done / all
  const filled = Math.round(part * BAR_WIDTH)
  const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled)
  const leftMs = done === 0 ? undefined : (passedMs / done) * (all - done)
  const left = leftMs === undefined || done === all ? '' : `, ${Math.ceil(leftMs / 1_000)} s left`
  return `${what} ${bar} ${done}/${all}${left}`
}
