import { z } from 'zod'
import { trimAsJava } from '../common/trim-as-java.ts'
import { ConfigError, type ConfigProblem } from './errors.ts'
import {
  type ConfigType,
  FIELD_META,
  type FieldMeta,
  type Importance,
  listItems,
  printedValue,
  WHOLE_SENTENCE,
  type Width,
} from './fields.ts'
import type { Reaches } from './host-access.ts'

/** A configuration key as `/validate`, forms and the reference page describe it. */
export type ConfigDefinition = {
  readonly name: string
  readonly type: ConfigType
  readonly required: boolean
  /** As text; null when there is no default. */
  readonly defaultValue: string | null
  readonly importance: Importance
  readonly documentation: string
  readonly group: string | null
  /** Place within the group; -1 without a group. */
  readonly order: number
  readonly width: Width
  readonly displayName: string
  readonly recommended: readonly string[]
  readonly reaches: Reaches | null
}

/** The effective value of a key as text (passwords masked), and its problems. */
export type ConfigValue = {
  readonly name: string
  readonly value: string | null
  readonly errors: readonly string[]
  /** Values to choose from in this configuration. Default: those of the definition. */
  readonly recommended?: readonly string[]
  /** Whether forms show the key in this configuration. Default: yes. */
  readonly visible?: boolean
}

export type RawConfig = Readonly<Record<string, string>>

/** Parses a configuration, without keys that the plugin does not read. Throws a `ConfigError`. */
export function parseConfig<Spec extends z.ZodObject>(spec: Spec, raw: RawConfig): z.infer<Spec> {
  const parsed = spec.safeParse(knownPart(spec, raw))
  if (parsed.success) return parsed.data
  throw new ConfigError(problemsOf(spec, raw, parsed.error))
}

/** Values and problems of the keys of the spec, in its order, for `/validate`. */
export function validateConfig(spec: z.ZodObject, raw: RawConfig): readonly ConfigValue[] {
  const known = knownPart(spec, raw)
  const parsed = spec.safeParse(known)
  const problems = parsed.success ? [] : problemsOf(spec, raw, parsed.error)
  return describeConfig(spec).map(({ name, type, defaultValue }) => {
    const errors = problems.filter(({ key }) => key === name).map(({ message }) => message)
    const written = known[name] === undefined ? undefined : printedValue(type, known[name])
    const value = errors.length > 0 ? (written ?? null) : (written ?? defaultValue)
    return { name, value: type === 'PASSWORD' && value !== null ? HIDDEN : value, errors }
  })
}

/** Whether the plugin reads keys that it does not define, as `z.object({…}).catchall(z.string())` states. */
export function readsOtherKeys({ def }: z.ZodObject): boolean {
  return def.catchall !== undefined && def.catchall._zod.def.type !== 'never'
}

/** Keys of `raw` that the plugin does not read. */
export function unknownKeys(spec: z.ZodObject, raw: RawConfig): readonly string[] {
  if (readsOtherKeys(spec)) return []
  return Object.keys(raw).filter((key) => !Object.hasOwn(spec.shape, key))
}

/** Cached, because each key is parsed once to find out whether it is required. */
const described = new WeakMap<z.ZodObject, readonly ConfigDefinition[]>()

export function describeConfig(spec: z.ZodObject): readonly ConfigDefinition[] {
  const known = described.get(spec)
  if (known !== undefined) return known
  const definitions = Object.entries(spec.shape).map(([name, schema]) => define(name, schema as z.ZodType))
  described.set(spec, definitions)
  return definitions
}

export const HIDDEN = '[hidden]'

function define(name: string, schema: z.ZodType): ConfigDefinition {
  const layers = [...unwrap(schema)]
  const meta = layers.map((layer) => z.globalRegistry.get(layer)).find((found) => found !== undefined)
  const field = layers.map(fieldMeta).find((found) => found !== undefined)
  const fallback = layers.find((layer) => layer.def.type === 'default' || layer.def.type === 'prefault')
  const group = field?.group ?? null
  return {
    name,
    type: field?.type ?? typeOf(layers),
    required: !schema.safeParse(undefined).success,
    defaultValue: fallback === undefined ? null : toText((fallback.def as { defaultValue?: unknown }).defaultValue),
    importance: field?.importance ?? 'MEDIUM',
    documentation: field?.doc ?? meta?.description ?? '',
    group,
    order: field?.order ?? (group === null ? -1 : 0),
    width: field?.width ?? 'NONE',
    displayName: field?.displayName ?? name,
    recommended: field?.recommended ?? [],
    reaches: field?.reaches ?? null,
  }
}

/** A zod type and the types that it wraps, from the outside in. */
function* unwrap(schema: z.ZodType): Generator<z.ZodType> {
  yield schema
  const { innerType, in: source } = schema.def as { innerType?: z.ZodType; in?: z.ZodType }
  const inner = innerType ?? source
  if (inner !== undefined) yield* unwrap(inner)
}

function fieldMeta(schema: z.ZodType): FieldMeta | undefined {
  return z.globalRegistry.get(schema)?.[FIELD_META] as FieldMeta | undefined
}

/** The type of a field that was declared with plain zod, from its innermost type. */
function typeOf(layers: readonly z.ZodType[]): ConfigType {
  const innermost = layers.at(-1)
  switch (innermost?.def.type) {
    case 'number':
      return (innermost as z.ZodNumber).isInt ? 'LONG' : 'DOUBLE'
    case 'boolean':
      return 'BOOLEAN'
    case 'array':
      return 'LIST'
    default:
      return 'STRING'
  }
}

function toText(value: unknown): string {
  return Array.isArray(value) ? value.join(',') : String(value)
}

function knownPart(spec: z.ZodObject, raw: RawConfig): RawConfig {
  const isOpen = readsOtherKeys(spec)
  const known = Object.entries(raw).flatMap(([key, value]) => {
    if (!Object.hasOwn(spec.shape, key)) return isOpen ? [[key, value] as const] : []
    return [[key, isVerbatim(spec.shape[key] as z.ZodType) ? value : trimAsJava(value)] as const]
  })
  return Object.fromEntries(known)
}

function isVerbatim(schema: z.ZodType): boolean {
  return [...unwrap(schema)].some((layer) => fieldMeta(layer)?.isVerbatim === true)
}

function problemsOf(spec: z.ZodObject, raw: RawConfig, error: z.ZodError): readonly ConfigProblem[] {
  return error.issues.map((issue) => {
    const { path, message } = issue
    const key = String(path[0] ?? '')
    const value = raw[key]
    if (issue.code === 'custom' && issue.params?.[WHOLE_SENTENCE]) return { key, message }
    if (!Object.hasOwn(spec.shape, key)) return { key, message }
    const { required, type } = define(key, spec.shape[key] as z.ZodType)
    if (value === undefined && required) {
      return { key, message: `Missing required configuration "${key}" which has no default value.` }
    }
    const trimmed = isVerbatim(spec.shape[key] as z.ZodType) ? value : value && trimAsJava(value)
    const shown = isTypeProblem(message) ? value : trimmed
    return { key, message: `Invalid value ${shownValue(type, shown, message)} for configuration ${key}: ${message}` }
  })
}

/** The value in a message: as written if it has another type, else as Java prints the parsed value. */
function shownValue(type: ConfigType, value: string | undefined, message: string): string | null {
  if (value === undefined) return null
  if (type === 'PASSWORD') return HIDDEN
  if (isTypeProblem(message)) return value
  return type === 'LIST' ? `[${listItems(value).join(', ')}]` : printedValue(type, value)
}

/** Whether a message says that a value does not have the type of its key. */
export function isTypeProblem(message: string): boolean {
  return /(?:^|: )(?:Not a number of type [A-Z]+|Expected value to be either true or false)$/.test(message)
}
