import { Session } from 'node:inspector'
import { CURRENT_TASK_SYMBOL } from './current-task.ts'

const TIMEOUT_MS = 2_000

/** What a thread was executing when it was interrupted. */
export type ThreadDiagnosis = {
  /** The key of the task on whose behalf it runs; undefined if none. */
  readonly task: string | undefined
  /** The call stack, one frame per line. */
  readonly stack: string
}

type Frame = {
  readonly callFrameId: string
  readonly functionName: string
  readonly location: { readonly scriptId: string; readonly lineNumber: number; readonly columnNumber?: number }
}
type Message = { readonly id?: number; readonly method?: string; readonly params?: object; readonly result?: object }

/**
 * Interrupts a thread that does not return to its event loop, through V8's debugger, and reports what it was executing.
 * Resolves to undefined when the thread does not respond within 2 s, which means that it waits in native code. The
 * thread stays paused.
 */
export async function diagnoseThread(threadName: string): Promise<ThreadDiagnosis | undefined> {
  const session = new Session()
  const diagnosed = Promise.withResolvers<ThreadDiagnosis | undefined>()
  const timer = setTimeout(() => diagnosed.resolve(undefined), TIMEOUT_MS)
  session.connect()
  try {
    session.on('NodeWorker.attachedToWorker', ({ params }) => {
      if (!params.workerInfo.title.endsWith(threadName)) return
      const send = (id: number, method: string, what: object = {}) =>
        session.post('NodeWorker.sendMessageToWorker', {
          sessionId: params.sessionId,
          message: JSON.stringify({ id, method, params: what }),
        })
      const onMessage = debuggerListener(send, diagnosed.resolve)
      session.on('NodeWorker.receivedMessageFromWorker', ({ params: received }) => {
        if (received.sessionId === params.sessionId) onMessage(JSON.parse(received.message))
      })
      send(1, 'Debugger.enable')
      send(2, 'Debugger.pause')
    })
    session.post('NodeWorker.enable', { waitForDebuggerOnStart: false })
    return await diagnosed.promise
  } finally {
    clearTimeout(timer)
    session.disconnect()
  }
}

const EVALUATE_ID = 3
const CURRENT_TASK_EXPRESSION = `globalThis[Symbol.for('${CURRENT_TASK_SYMBOL}')]?.getStore()`

/** Handles the debugger's messages: takes the stack first, then evaluates the current task in the top frame. */
function debuggerListener(
  send: (id: number, method: string, what?: object) => void,
  onDiagnosis: (diagnosis: ThreadDiagnosis) => void,
): (message: Message) => void {
  let stack = ''
  const scripts = new Map<string, string>()
  return ({ id, method, params, result }) => {
    if (method === 'Debugger.scriptParsed') {
      const { scriptId, url } = params as { scriptId: string; url: string }
      scripts.set(scriptId, url)
    } else if (method === 'Debugger.paused') {
      const { callFrames } = params as { callFrames: readonly Frame[] }
      stack = callFrames.map((frame) => toLine(frame, scripts)).join('\n')
      const { callFrameId } = callFrames[0] ?? {}
      send(EVALUATE_ID, 'Debugger.evaluateOnCallFrame', { callFrameId, expression: CURRENT_TASK_EXPRESSION })
    } else if (id === EVALUATE_ID) {
      const value = (result as { result?: { value?: unknown } } | undefined)?.result?.value
      onDiagnosis({ task: typeof value === 'string' ? value : undefined, stack })
    }
  }
}

function toLine({ functionName, location }: Frame, scripts: ReadonlyMap<string, string>): string {
  const place = `${scripts.get(location.scriptId)}:${location.lineNumber + 1}:${(location.columnNumber ?? 0) + 1}`
  return `    at ${functionName === '' ? place : `${functionName} (${place})`}`
}
