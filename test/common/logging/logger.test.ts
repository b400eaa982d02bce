import { expect, it, onTestFinished } from 'vitest'
import { createLogger } from '../../../src/common/logging/logger.ts'
import { type TraceSpan, useTracer, withinSpan } from '../../../src/common/tracing.ts'

const SPAN: TraceSpan = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  set: () => undefined,
  end: () => undefined,
}

it('a line within a span names it and its trace, and any other line does not', () => {
  const lines: Record<string, unknown>[] = []
  const write = (line: string) => void lines.push(JSON.parse(line))
  createLogger({ write }).info('without tracing')
  useTracer({ start: () => SPAN, stop: async () => undefined })
  onTestFinished(() => useTracer(undefined))
  const logger = createLogger({ write }).child({ task: 1 })
  logger.info('outside')
  withinSpan(SPAN, () => logger.info({ connector: 'c' }, 'inside'))
  expect(lines.map(({ msg, trace_id, span_id }) => [msg, trace_id, span_id])).toEqual([
    ['without tracing', undefined, undefined],
    ['outside', undefined, undefined],
    ['inside', SPAN.traceId, SPAN.spanId],
  ])
})
