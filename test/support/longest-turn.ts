import { writeFileSync } from 'node:fs'

// Loaded before a program (`node --import`): how much of the processor the longest turn of its event loop took, in ms. It
// does not count what others took from the machine meanwhile. The first SIGUSR2 begins, a second one writes the file, in
// the program's directory.

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

/** By this thread alone. */
function usedMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
