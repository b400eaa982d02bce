import { AsyncLocalStorage } from 'node:async_hooks'

/** The part of OpenTelemetry that Weir uses. It is off, and costs nothing, until `useTracer` is called. */

export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer'
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

export type SpanOptions = {
  readonly kind: SpanKind
  readonly attributes?: SpanAttributes
  /** The W3C `traceparent` of the span that caused this one. Default: the active span of this process. */
  readonly parent?: string | undefined
  /** Whether it begins a trace, although it may run within what another span has started. */
  readonly isRoot?: boolean
}

export interface TraceSpan {
  readonly traceId: string
  readonly spanId: string
  /** The value of the W3C header. */
  readonly traceparent: string
  set(attributes: SpanAttributes): void
  /** `error`: why it failed. */
  end(error?: unknown): void
}

export interface Tracer {
  start(name: string, options: SpanOptions): TraceSpan
  /** Sends what was not sent yet. */
  stop(): Promise<void>
}

export const TRACEPARENT = 'traceparent'

const activeSpans = new AsyncLocalStorage<TraceSpan>()
let current: Tracer | undefined

/** Starts tracing in this process; undefined ends it. */
export function useTracer(tracer: Tracer | undefined): void {
  current = tracer
}

export function isTracing(): boolean {
  return current !== undefined
}

/** The span in which this code runs. */
export function activeSpan(): TraceSpan | undefined {
  return current === undefined ? undefined : activeSpans.getStore()
}

/** Undefined without tracing. The caller ends it. */
export function startSpan(name: string, options: SpanOptions): TraceSpan | undefined {
  if (current === undefined) return undefined
  return current.start(
    name,
    options.isRoot ? options : { ...options, parent: options.parent ?? activeSpan()?.traceparent },
  )
}

/** Calls `run` in the span, so that spans that it starts are its children. */
export function withinSpan<T>(span: TraceSpan, run: () => T): T {
  return activeSpans.run(span, run)
}

/** Calls `run` in a new span, which ends with it. Without tracing it only calls `run`. */
export async function traced<T>(
  name: string,
  options: SpanOptions,
  run: (span: TraceSpan | undefined) => Promise<T>,
): Promise<T> {
  const span = startSpan(name, options)
  if (span === undefined) return run(undefined)
  try {
    const result = await withinSpan(span, () => run(span))
    span.end()
    return result
  } catch (error) {
    span.end(error)
    throw error
  }
}

type Environment = Readonly<Record<string, string | undefined>>

/** Whether the variables of OpenTelemetry configure an export of traces. Their default, a collector on this machine, is not used. */
export function configuresTracing(environment: Environment): boolean {
  if (environment['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') return false
  const exporter = environment['OTEL_TRACES_EXPORTER']
  if (exporter) return exporter === 'otlp'
  return Boolean(environment['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] || environment['OTEL_EXPORTER_OTLP_ENDPOINT'])
}
