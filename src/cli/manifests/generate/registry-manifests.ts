import { contextOf, DEFAULT_CONTEXT, GLOBAL_CONTEXT } from '../../../formats/qualified-subject.ts'
import type { ArchivedContext, ArchivedSubject, RegistryArchive } from '../../archive/registry-archive.ts'
import {
  type GeneratedFile,
  type GeneratedManifests,
  type GeneratedScope,
  manifestFile,
  objectNameFor,
} from './generated-manifests.ts'

/** Longer schemas get a ConfigMap of their own. */
const INLINE_LENGTH_MAX = 4_000
/** The level of a registry without any config. */
const DEFAULT_LEVEL = 'BACKWARD'
/** The only setting of a config that a manifest declares. */
const LEVEL = 'compatibility'

/** Subject and RegistryMode manifests of a registry: the latest version of each subject, levels and modes. */
export function registryManifests({ contexts, subjects }: RegistryArchive, scope: GeneratedScope): GeneratedManifests {
  const registryRef = scope.runtime === 'default' ? {} : { registryRef: { name: scope.runtime } }
  const known = new Set(subjects.filter(({ versions }) => versions.some(isLive)).map(({ subject }) => subject))
  const notes = [
    ...contexts.flatMap(notesOnContext),
    ...subjects.flatMap(({ subject, config = {} }) => noteOnSettings(`subject ${subject}`, config)),
  ]
  const files = [
    ...contexts.filter(hasManifest).map((one) => contextFile(one, scope, registryRef)),
    ...subjects.flatMap((one) => [
      ...subjectModeFiles(one, scope, registryRef),
      ...subjectFiles(one, scope, registryRef, known),
    ]),
  ]
  return { files, secrets: [], notes }
}

/** No resource declares what applies to all contexts together. */
function hasManifest({ context, config, mode }: ArchivedContext): boolean {
  if (context === DEFAULT_CONTEXT) return true
  return context !== GLOBAL_CONTEXT && (mode !== undefined || config?.compatibility !== undefined)
}

function notesOnContext({ context, config = {}, mode }: ArchivedContext): readonly string[] {
  // A registry reports a level for all contexts together also where nobody has set one.
  const hasLevel = (config.compatibility ?? DEFAULT_LEVEL) !== DEFAULT_LEVEL
  const isLeftOut = context === GLOBAL_CONTEXT && (hasLevel || mode !== undefined)
  const leftOut = `context ${context}: its level or mode stays as it is, because no resource declares those of all contexts together`
  return [...noteOnSettings(`context ${context}`, config), ...(isLeftOut ? [leftOut] : [])]
}

function contextFile({ context, config, mode }: ArchivedContext, scope: GeneratedScope, registryRef: object) {
  const isDefault = context === DEFAULT_CONTEXT
  const compatibility = config?.compatibility
  const spec = {
    ...registryRef,
    scope: isDefault ? { type: 'Registry' } : { type: 'Context', context },
    // The registry itself always has a mode.
    ...((isDefault || mode !== undefined) && { mode: mode ?? 'READWRITE' }),
    ...(compatibility !== undefined && { compatibility }),
  }
  const name = objectNameFor(scope, isDefault ? 'registry' : `context-${context.slice(1)}`)
  return manifestFile(scope, 'RegistryMode', name, { spec })
}

function subjectModeFiles({ subject, mode }: ArchivedSubject, scope: GeneratedScope, registryRef: object) {
  if (mode === undefined) return []
  const spec = { ...registryRef, scope: { type: 'Subject', subject }, mode }
  return [manifestFile(scope, 'RegistryMode', objectNameFor(scope, `subject-${subject}`), { spec })]
}

function subjectFiles(
  { subject, config, versions }: ArchivedSubject,
  scope: GeneratedScope,
  registryRef: object,
  known: ReadonlySet<string>,
): readonly GeneratedFile[] {
  const latest = versions.findLast(isLive)
  const compatibility = config?.compatibility
  if (latest === undefined && compatibility === undefined) return []
  const name = objectNameFor(scope, subject)
  const { schema = '', schemaType = 'AVRO', references = [], metadata, ruleSet } = latest ?? {}
  const isLong = schema.length > INLINE_LENGTH_MAX
  const configMap = `${name}-schema`
  const spec = {
    ...registryRef,
    ...(name !== subject && { subject }),
    ...(compatibility !== undefined && { compatibility }),
    adoptionPolicy: 'AdoptIfIdentical',
    ...(latest !== undefined && {
      schemaType,
      ...(references.length > 0 && {
        references: references.map((reference) => {
          const isDeclared = contextOf(subject) === DEFAULT_CONTEXT && known.has(reference.subject)
          return {
            name: reference.name,
            ...(isDeclared
              ? { subjectRef: { name: objectNameFor(scope, reference.subject) } }
              : { subject: reference.subject }),
            version: reference.version,
          }
        }),
      }),
      ...(metadata !== undefined && { metadata }),
      ...(ruleSet !== undefined && { ruleSet }),
      ...(isLong ? { schemaFrom: { configMapKeyRef: { name: configMap, key: 'schema' } } } : { schema }),
    }),
  }
  const manifest = manifestFile(scope, 'Subject', name, { spec })
  return isLong ? [manifestFile(scope, 'ConfigMap', configMap, { data: { schema } }), manifest] : [manifest]
}

function isLive({ deleted }: ArchivedSubject['versions'][number]): boolean {
  return deleted !== true
}

function noteOnSettings(what: string, config: object): readonly string[] {
  const others = Object.keys(config).filter((key) => key !== LEVEL)
  return others.length === 0 ? [] : [`${what} keeps settings that no manifest declares: ${others.join(', ')}`]
}
