import { describe, expect, it } from 'vitest'
import { openTelemetryTracer } from '../../src/common/open-telemetry-tracer.ts'
import { configuresTracing } from '../../src/common/tracing.ts'

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'
const PARENT = `00-${TRACE_ID}-b7ad6b7169203331-01`

describe('tracing is configured', () => {
  it.each([
    [{}, false],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, true],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector:4318/v1/traces' }, true],
    [{ OTEL_TRACES_EXPORTER: 'otlp' }, true],
    [{ OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, false],
    [{ OTEL_SDK_DISABLED: 'true', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, false],
    [{ OTEL_METRICS_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_ENDPOINT: '' }, false],
  ])('by the variables %j: %s', (environment, expected) => {
    expect(configuresTracing(environment)).toBe(expected)
  })
})

describe('a span', () => {
  const startIn = (environment: Readonly<Record<string, string>>, parent?: string) =>
    openTelemetryTracer('worker', environment).start('work', { kind: 'internal', parent })

  it('belongs to the trace of its parent', () => {
    const { traceId, spanId, traceparent } = startIn({}, PARENT)
    expect(traceId).toBe(TRACE_ID)
    expect(traceparent).toBe(`00-${TRACE_ID}-${spanId}-01`)
  })

  it.each([
    'x',
    '',
    PARENT.replace('00-', 'ff-'),
    PARENT.replace(TRACE_ID, '0'.repeat(32)),
    PARENT.replace('b7ad6b7169203331', '0'.repeat(16)),
    `${PARENT}0`,
    PARENT.toUpperCase(),
  ])('begins a trace if its parent is %j', (parent) => {
    const { traceId } = startIn({}, parent)
    expect(traceId).toMatch(/^[0-9a-f]{32}$/)
    expect(traceId).not.toBe(TRACE_ID)
  })

  it.each([
    [{ OTEL_TRACES_SAMPLER: 'always_off' }, PARENT, '00'],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_always_off' }, PARENT, '01'],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_always_off' }, undefined, '00'],
    [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }, PARENT, '00'],
    [{}, PARENT.replace(/01$/, '00'), '00'],
  ])('is sampled by %j with the parent %s: %s', (environment, parent, flags) => {
    expect(startIn(environment, parent).traceparent.slice(-2)).toBe(flags)
  })
})

it.each([
  [{ OTEL_TRACES_SAMPLER: 'jaeger_remote' }, 'OTEL_TRACES_SAMPLER=jaeger_remote: expected always_on, always_off'],
  [{ OTEL_BSP_SCHEDULE_DELAY: 'soon' }, 'OTEL_BSP_SCHEDULE_DELAY=soon: expected a number'],
  [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'OTEL_EXPORTER_OTLP_PROTOCOL=grpc: expected http/json'],
])('the variable in %j is rejected', (environment, message) => {
  expect(() => openTelemetryTracer('worker', environment)).toThrow(message)
})
