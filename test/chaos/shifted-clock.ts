import { readFileSync } from 'node:fs'

// Loaded into a program by `--import`, where there is no libfaketime. Moves its time of day by the milliseconds in a file.

const REFRESH_MS = 1_000
const file = process.env['SHIFTED_CLOCK_FILE']!
const RealDate = Date
const readOffset = () => Number(readFileSync(file, 'utf8'))

let offsetMs = readOffset()
setInterval(() => {
  offsetMs = readOffset()
}, REFRESH_MS).unref()

globalThis.Date = class extends RealDate {
  constructor(...args: [] | [number | string | Date]) {
    if (args.length === 0) super(RealDate.now() + offsetMs)
    else super(...args)
  }

  static override now(): number {
    return RealDate.now() + offsetMs
  }
} as DateConstructor
