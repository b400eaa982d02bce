import type { Browser, Page } from 'playwright-core'

type TraceEvent = {
  readonly name: string
  readonly pid: number
  readonly tid: number
  /** CPU time in microseconds. */
  readonly tdur?: number
  readonly args?: { readonly name?: string }
}

/** Tasks of the main thread, one of which is all work of a page for a frame: events, scripts, style, layout and painting. */
const TASKS = /RunTask$/
const CATEGORIES = ['toplevel', 'disabled-by-default-devtools.timeline', '__metadata']

/**
 * The CPU time in milliseconds of the longest task of the page's main thread during an action. Other processes do not add
 * to it, as they would to the time between frames.
 */
export async function longestTaskDuring(browser: Browser, page: Page, action: () => Promise<unknown>): Promise<number> {
  await browser.startTracing(page, { categories: CATEGORIES })
  await action()
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as {
    readonly traceEvents: readonly TraceEvent[]
  }
  const isMainThread = new Set(
    traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  )
  const durations = traceEvents.flatMap(({ name, pid, tid, tdur }) =>
    TASKS.test(name) && tdur !== undefined && isMainThread.has(`${pid} ${tid}`) ? [tdur / 1_000] : [],
  )
  if (durations.length === 0) throw new Error('the trace of the browser has no task of the main thread')
  return Math.max(...durations)
}
