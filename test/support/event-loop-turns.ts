import { writeFileSync } from 'node:fs'

// Loaded into a program with `node --import`. Measures the longest turn of its event loop in ms of CPU time, so that
// other processes on the machine do not count. The first SIGUSR2 starts the measurement, the second one writes the
// result to the file `longest-turn` in the program's working directory.

let beganMs = 0
let longestMs = 0

process.once('SIGUSR2', () => {
  beganMs = usedMs()
  setInterval(() => {
    const nowMs = usedMs()
    longestMs = Math.max(longestMs, nowMs - beganMs)
    beganMs = nowMs
  }, 1).unref()
  process.once('SIGUSR2', () => writeFileSync('longest-turn', `${longestMs}\n`))
})

/** CPU time of this thread. */
function usedMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
