import { SpanKind as Kind, ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { messageOf, UserError } from './errors.ts'
import { packageVersion } from './package-version.ts'
import type { SpanKind, Tracer, TraceSpan } from './tracing.ts'

type Environment = Readonly<Record<string, string | undefined>>

const KINDS: Readonly<Record<SpanKind, Kind>> = {
  internal: Kind.INTERNAL,
  server: Kind.SERVER,
  client: Kind.CLIENT,
  producer: Kind.PRODUCER,
  consumer: Kind.CONSUMER,
}
/** How long a program that stops waits for its last spans to be sent. A collector that does not respond must not delay its end. */
const STOP_MS_MAX = 1_500
/** Attributes such as URLs may contain what a client has sent. */
const ATTRIBUTE_CHARACTERS_MAX = 1_024

/**
 * Sends spans by OTLP over HTTP, with OpenTelemetry's SDK. The exporter reads the variables `OTEL_EXPORTER_OTLP_*` itself. Throws a
 * `UserError` for an invalid variable. Loaded only if tracing is configured.
 */
export function openTelemetryTracer(program: string, environment: Environment): Tracer {
  const protocol = environment['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] ?? environment['OTEL_EXPORTER_OTLP_PROTOCOL']
  if (protocol !== undefined && protocol !== '' && !protocol.startsWith('http/'))
    throw invalid('OTEL_EXPORTER_OTLP_PROTOCOL', protocol, 'http/json or http/protobuf; spans are sent as http/json')
  const number = (name: string) => numberOf(environment, name)
  const processor = new BatchSpanProcessor({
    exporter: new OTLPTraceExporter(),
    ...defined('scheduledDelayMillis', number('OTEL_BSP_SCHEDULE_DELAY')),
    ...defined('exportTimeoutMillis', number('OTEL_BSP_EXPORT_TIMEOUT')),
    ...defined('maxQueueSize', number('OTEL_BSP_MAX_QUEUE_SIZE')),
    ...defined('maxExportBatchSize', number('OTEL_BSP_MAX_EXPORT_BATCH_SIZE')),
  })
  const own = resourceFromAttributes({ 'service.name': `weir-${program}`, 'service.version': packageVersion() })
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(own)
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: samplerOf(environment),
    spanProcessors: [processor],
    spanLimits: { attributeValueLengthLimit: ATTRIBUTE_CHARACTERS_MAX },
  })
  const tracer = provider.getTracer('weir', packageVersion())
  return {
    start(name, { kind, attributes = {}, parent }) {
      const remote = parent === undefined ? undefined : parseTraceparent(parent)
      const context = remote === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, remote)
      const span = tracer.startSpan(name, { kind: KINDS[kind], attributes }, context)
      const { traceId, spanId, traceFlags } = span.spanContext()
      return {
        traceId,
        spanId,
        traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
        set: (more) => void span.setAttributes(more),
        end(error) {
          if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: messageOf(error) })
          span.end()
        },
      } satisfies TraceSpan
    },
    async stop() {
      const { promise: late, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, STOP_MS_MAX)
      await Promise.race([provider.shutdown().catch(() => undefined), late])
      clearTimeout(timer)
    },
  }
}

/** The format of the W3C; undefined for anything else, as the recommendation requires. */
function parseTraceparent(text: string) {
  const [, version, traceId = '', spanId = '', flags = ''] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/.exec(text.trim()) ?? []
  const isValid = version !== undefined && version !== 'ff' && !/^0+$/.test(traceId) && !/^0+$/.test(spanId)
  return isValid ? { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true } : undefined
}

function samplerOf(environment: Environment): Sampler {
  const name = environment['OTEL_TRACES_SAMPLER'] || 'parentbased_always_on'
  const [, isParentBased, kind] = /^(parentbased_)?(always_on|always_off|traceidratio)$/.exec(name) ?? []
  if (kind === undefined)
    throw invalid(
      'OTEL_TRACES_SAMPLER',
      name,
      'always_on, always_off or traceidratio, or one with parentbased_ before it',
    )
  const root =
    kind === 'always_on'
      ? new AlwaysOnSampler()
      : kind === 'always_off'
        ? new AlwaysOffSampler()
        : new TraceIdRatioBasedSampler(numberOf(environment, 'OTEL_TRACES_SAMPLER_ARG') ?? 1)
  return isParentBased === undefined ? root : new ParentBasedSampler({ root })
}

function numberOf(environment: Environment, name: string): number | undefined {
  const text = environment[name]
  if (!text) return undefined
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text)
  throw invalid(name, text, 'a number')
}

function defined<Key extends string>(key: Key, value: number | undefined): { readonly [K in Key]?: number } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [K in Key]: number })
}

function invalid(name: string, value: string, expected: string): UserError {
  return new UserError('invalid_settings', `${name}=${value}: expected ${expected}`)
}
