import { setTimeout as sleep } from 'node:timers/promises'

/** Polls a condition outside this process. Throws an error that contains `what` after the timeout. */
export async function until(
  what: string,
  options: { readonly everyMs: number; readonly timeoutMs: number },
  isSo: () => Promise<boolean> | boolean,
): Promise<void> {
  const deadline = performance.now() + options.timeoutMs
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`waited ${options.timeoutMs} ms in vain for ${what}`)
    await sleep(options.everyMs)
  }
}
