import { setTimeout as sleep } from 'node:timers/promises'

/** Waits for something outside of this process, which nothing here can be told of. Fails with what it waited for. */
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
