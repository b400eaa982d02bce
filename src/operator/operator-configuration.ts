import { readFileSync } from 'node:fs'
import { z } from 'zod'
import type { Endpoint } from '../clients/http-client.ts'
import { messageOf, UserError } from '../common/errors.ts'
import { parseYaml } from '../common/yaml-documents.ts'
import { labelSelector } from './label-selector.ts'
import { toFieldErrors } from './resources/field-error.ts'
import { duration, durationMs, objectName } from './resources/field-schemas.ts'
import {
  type InvalidRuntimeConfig,
  type RegistryRuntimeConfig,
  RUNTIME_DEFAULTS,
  type RuntimeConfig,
  type RuntimesConfig,
  type WorkerRuntimeConfig,
} from './runtimes.ts'

/** The content of the operator's configuration file. */
export type OperatorConfiguration = {
  readonly instance?: string
  readonly watchNamespaces: readonly string[]
  readonly runtimesConfig: RuntimesConfig
}

/** A request must end before the lease of 15 s can expire. */
const REQUEST_MS_MAX = 12_000
/** Default of `abandonAfter`. */
const ABANDON_AFTER = '1h'
const ABANDON_TERMINATING_MS = 600_000

const file = z.string().min(1)
const auth = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('none') }),
  z.strictObject({ type: z.literal('basic'), usernameFile: file, passwordFile: file }),
  z.strictObject({ type: z.literal('bearer'), tokenFile: file }),
  z.strictObject({ type: z.literal('mtls'), certFile: file, keyFile: file }),
])
const allowedNamespaces = z.discriminatedUnion('from', [
  z.strictObject({ from: z.literal('All') }),
  z.strictObject({ from: z.literal('Same') }),
  z.strictObject({ from: z.literal('List'), names: z.array(objectName()).min(1) }),
  z.strictObject({ from: z.literal('Selector'), selector: labelSelector }),
])
const COMMON = {
  name: objectName(),
  url: z.url({ protocol: /^https?$/ }),
  auth: auth.optional(),
  tls: z.strictObject({ caFile: file }).optional(),
  allowedNamespaces: allowedNamespaces.default({ from: 'Same' }),
  requestTimeout: duration()
    .refine((text) => durationMs(text) <= REQUEST_MS_MAX, 'is too long: at most 12s')
    .optional(),
  observeInterval: duration().optional(),
  maxInFlight: z.int().min(1).max(1_000).default(RUNTIME_DEFAULTS.maxInFlight),
  healthGrace: duration().optional(),
  onUnreachableDelete: z.enum(['Block', 'Abandon']).default('Block'),
  abandonAfter: duration().optional(),
}
/** Schemas of one worker and one registry, which the chart's values use too. */
export const workerConfigSchema = z.strictObject({
  ...COMMON,
  nameTemplate: z
    .string()
    .regex(
      /^(?=[^{}]*(\{namespace\})?[^{}]*\{name\}[^{}]*(\{namespace\})?[^{}]*$)(?!.*\{namespace\}.*\{namespace\})[^\s/\\]+$/,
      'must contain {name} once, {namespace} at most once, and no whitespace, slashes or other braces. Example: {namespace}.{name}',
    )
    .default(RUNTIME_DEFAULTS.nameTemplate),
  allowExplicitNames: z.boolean().default(RUNTIME_DEFAULTS.allowsExplicitNames),
  protectedNames: z.array(z.string().min(1)).default([]),
  secretPlaceholder: z.string().default(RUNTIME_DEFAULTS.secretPlaceholder),
  ownershipMarker: z.boolean().default(RUNTIME_DEFAULTS.writesOwnerMarker),
  podSelector: z.string().optional(),
})
/** As in `:.ctx:orders`. The default context is written `.default`. */
const context = z
  .string()
  .regex(/^\.[^:\s]*$/, 'must begin with a dot and contain no colon or whitespace. Examples: .shop, .default')
export const registryConfigSchema = z.strictObject({
  ...COMMON,
  subjectPrefixes: z.record(objectName(), z.array(z.string().min(1)).min(1)).default({}),
  contexts: z.record(z.union([z.literal('*'), objectName()]), z.array(context).min(1)).default({}),
})
/** Entries are parsed one by one: an invalid entry does not affect the others. */
const whole = z.strictObject({
  apiVersion: z.literal('config.weir.dev/v1alpha1'),
  kind: z.literal('OperatorConfig'),
  instance: objectName().optional(),
  watchNamespaces: z.array(objectName()).default([]),
  allowInlineSecrets: z.boolean().default(false),
  workers: z.array(z.looseObject({ name: objectName() })).default([]),
  registries: z.array(z.looseObject({ name: objectName() })).default([]),
})

/**
 * Reads the configuration and the secret files that it names; relative paths are relative to the working directory. Throws a
 * `UserError` when the file as a whole is invalid; an invalid entry becomes an `InvalidRuntimeConfig`.
 */
export function readConfiguration(path: string): OperatorConfiguration {
  const { instance, watchNamespaces, workers, registries, allowInlineSecrets } = parsed(path)
  const toWorker = (value: object): WorkerRuntimeConfig => {
    const {
      nameTemplate,
      allowExplicitNames,
      protectedNames,
      secretPlaceholder,
      ownershipMarker,
      podSelector,
      ...common
    } = read(workerConfigSchema, value)
    return {
      ...toEntry(common),
      nameTemplate,
      allowsExplicitNames: allowExplicitNames,
      protectedNames,
      secretPlaceholder,
      writesOwnerMarker: ownershipMarker,
      allowsInlineSecrets: allowInlineSecrets,
      ...(podSelector && { podSelector }),
      ...(common.onUnreachableDelete === 'Abandon' &&
        common.abandonAfter === undefined && { terminatingDeletionTimeoutMs: ABANDON_TERMINATING_MS }),
    }
  }
  const toRegistry = (value: object): RegistryRuntimeConfig => {
    const { subjectPrefixes, contexts, ...common } = read(registryConfigSchema, value)
    return { ...toEntry(common), subjectPrefixes, contexts }
  }
  return {
    ...(instance !== undefined && { instance }),
    watchNamespaces,
    runtimesConfig: { workers: entries(path, workers, toWorker), registries: entries(path, registries, toRegistry) },
  }
}

function parsed(path: string): z.output<typeof whole> {
  try {
    return read(whole, parseYaml(readFileSync(path, 'utf8')))
  } catch (error) {
    throw new UserError('invalid_config', `${path}: ${messageOf(error)}`, { cause: error })
  }
}

type Named = { readonly name: string }

function entries<E>(
  path: string,
  values: readonly Named[],
  toEntry: (value: Named) => E,
): (E | InvalidRuntimeConfig)[] {
  const names = values.map(({ name }) => name)
  const duplicate = names.find((name, at) => names.indexOf(name) !== at)
  if (duplicate !== undefined)
    throw new UserError('invalid_config', `${path}: two entries have the name ${duplicate}: names must be unique`)
  return values.map((value) => {
    try {
      return toEntry(value)
    } catch (error) {
      return { name: value.name, error: messageOf(error) }
    }
  })
}

function read<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const { success, data, error } = schema.safeParse(value)
  if (success) return data
  const errors = error.issues.flatMap((issue) => toFieldErrors(issue, value, schema))
  throw new Error(errors.map(({ message }) => message).join('; '))
}

type Common = z.output<z.ZodObject<typeof COMMON>>

function toEntry(common: Common): RuntimeConfig {
  const { name, url, auth, tls, allowedNamespaces, requestTimeout, observeInterval } = common
  const { onUnreachableDelete, abandonAfter, healthGrace, maxInFlight } = common
  return {
    name,
    endpoint: { url, ...credentials(auth, tls) },
    namespaces: grantees(allowedNamespaces),
    requestTimeoutMs: requestTimeout === undefined ? RUNTIME_DEFAULTS.requestTimeoutMs : durationMs(requestTimeout),
    observeIntervalMs: observeInterval === undefined ? RUNTIME_DEFAULTS.observeIntervalMs : durationMs(observeInterval),
    maxInFlight,
    readinessGracePeriodMs:
      healthGrace === undefined ? RUNTIME_DEFAULTS.readinessGracePeriodMs : durationMs(healthGrace),
    ...(onUnreachableDelete === 'Abandon' && { deletionTimeoutMs: durationMs(abandonAfter ?? ABANDON_AFTER) }),
  }
}

function grantees(allowed: Common['allowedNamespaces']): RuntimeConfig['namespaces'] {
  switch (allowed.from) {
    case 'List':
      return allowed.names
    case 'Selector':
      return allowed.selector
    default:
      return allowed.from
  }
}

function credentials(auth: Common['auth'], tls: Common['tls']): Pick<Endpoint, 'auth' | 'tls'> {
  const trimmed = (path: string) => readFileSync(path, 'utf8').trim()
  const own = auth?.type === 'mtls' ? { cert: readFileSync(auth.certFile), key: readFileSync(auth.keyFile) } : {}
  const trusted = tls === undefined ? {} : { ca: readFileSync(tls.caFile) }
  const context = { ...own, ...trusted }
  return {
    ...(Object.keys(context).length > 0 && { tls: context }),
    ...(auth?.type === 'basic' && {
      auth: { username: trimmed(auth.usernameFile), password: trimmed(auth.passwordFile) },
    }),
    ...(auth?.type === 'bearer' && { auth: { token: trimmed(auth.tokenFile) } }),
  }
}
