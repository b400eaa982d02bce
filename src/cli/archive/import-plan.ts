import { isDeepStrictEqual } from 'node:util'
import type { Mode, SubjectConfig } from '../../clients/registry-client.ts'
import { contextOf, GLOBAL_CONTEXT } from '../../formats/qualified-subject.ts'
import { referenceDepths } from './reference-depths.ts'
import {
  type ArchivedSettings,
  type ArchivedSubject,
  type ArchivedVersion,
  configNameOf,
  isIdenticalSchema,
  type RegistryArchive,
  type SubjectVersion,
  versionKey,
  versionsOf,
} from './registry-archive.ts'

/** `name`: a subject, or a context as in `configNameOf`; undefined is the default context. */
export type ConfigStep = { readonly name: string | undefined; readonly config: SubjectConfig }
export type ModeStep = { readonly name: string | undefined; readonly mode: Mode }

/** The changes to one subject while its mode is IMPORT. */
export type SubjectImport = {
  readonly subject: string
  /** In descending order: registering a newer version with the id of a soft-deleted older one removes the older one. */
  readonly register: readonly ArchivedVersion[]
  /** Versions that are soft-deleted after all are registered. */
  readonly softDelete: readonly number[]
  /** Whether the subject accepts ids without a mode of its own. */
  readonly isContextInImportMode: boolean
  /** The subject's own mode, which is restored afterwards; undefined: it has none. */
  readonly mode: Mode | undefined
}

/** The steps that make a registry hold what an archive holds, in the order of these members. */
export type ImportPlan = {
  /** One sentence for each contradiction between the registry and the archive. With any, nothing is executed. */
  readonly conflicts: readonly string[]
  readonly contextConfigs: readonly ConfigStep[]
  /** Versions of a wave reference versions of earlier waves only. */
  readonly waves: readonly (readonly SubjectImport[])[]
  readonly subjectConfigs: readonly ConfigStep[]
  readonly modes: readonly ModeStep[]
}

export type PlanOptions = {
  /** Leaves configs and modes unchanged. */
  readonly schemasOnly: boolean
}

/**
 * Pure. After an interrupted import the new plan completes it: what was registered is not registered again, and a subject
 * whose own mode is IMPORT gets its mode back.
 */
export function planImport(
  archive: RegistryArchive,
  target: RegistryArchive,
  { schemasOnly }: PlanOptions,
): ImportPlan {
  const present = new TargetRegistry(target)
  const all = versionsOf(archive)
  const settings = schemasOnly ? NO_SETTINGS : settingsPlan(archive, present)
  return {
    conflicts: [
      ...all.flatMap((one) => present.conflictsOf(one)),
      ...blockingModes(archive, present),
      ...settings.conflicts,
    ],
    contextConfigs: settings.contextConfigs,
    waves: wavesOf(archive, all, present),
    subjectConfigs: settings.subjectConfigs,
    modes: settings.modes,
  }
}

/** Pure. Only the configs and modes; the versions are registered with new ids. */
export function planSettings(archive: RegistryArchive, target: RegistryArchive): Omit<ImportPlan, 'waves'> {
  return settingsPlan(archive, new TargetRegistry(target))
}

export function countVersionsToRegister({ waves }: ImportPlan): number {
  return waves.flat().reduce((sum, { register }) => sum + register.length, 0)
}

/** The registry's present content, indexed. */
class TargetRegistry {
  readonly #contexts: ReadonlyMap<string, ArchivedSettings>
  readonly #subjects: ReadonlyMap<string, ArchivedSubject>
  readonly #versions = new Map<string, ArchivedVersion>()
  /** One version for each id. */
  readonly #versionsById = new Map<string, SubjectVersion>()
  readonly #usedContexts = new Set<string>()

  constructor(target: RegistryArchive) {
    this.#contexts = new Map(target.contexts.map((one) => [one.context, one]))
    this.#subjects = new Map(target.subjects.map((one) => [one.subject, one]))
    for (const one of versionsOf(target)) {
      this.#usedContexts.add(contextOf(one.subject))
      this.#versions.set(versionKey(one.subject, one.version.version), one.version)
      this.#versionsById.set(idKey(one), one)
    }
  }

  subject(subject: string): ArchivedSettings {
    return this.#subjects.get(subject) ?? {}
  }

  context(context: string): ArchivedSettings {
    return this.#contexts.get(context) ?? {}
  }

  /** Whether a context has no version yet: the config that the registry reports for it is a default. */
  isEmpty(context: string): boolean {
    return context === GLOBAL_CONTEXT ? this.#usedContexts.size === 0 : !this.#usedContexts.has(context)
  }

  /** Whether an import of this subject was interrupted. */
  isPartlyImported(subject: string): boolean {
    return this.subject(subject).mode === 'IMPORT'
  }

  version({ subject, version }: SubjectVersion): ArchivedVersion | undefined {
    return this.#versions.get(versionKey(subject, version.version))
  }

  /** Whether a version exists in the registry and is soft-deleted in the archive. */
  isToDelete(one: SubjectVersion): boolean {
    return one.version.deleted === true && this.version(one)?.deleted !== true
  }

  conflictsOf(one: SubjectVersion): readonly string[] {
    const existing = this.version(one)
    if (existing) return this.#versionConflicts(one, existing)
    const holder = this.#versionsById.get(idKey(one))
    if (!holder || isIdenticalSchema(holder.version, one.version)) return []
    return [`id ${one.version.id} of ${label(one)} belongs to another schema in the registry, that of ${label(holder)}`]
  }

  #versionConflicts(one: SubjectVersion, existing: ArchivedVersion): readonly string[] {
    const { version, subject } = one
    if (existing.id !== version.id) return [`${label(one)} has id ${existing.id} in the registry, not ${version.id}`]
    if (!isIdenticalSchema(existing, version)) return [`${label(one)} is another schema in the registry`]
    if (existing.deleted && !version.deleted) return [`${label(one)} is deleted in the registry, but not in the export`]
    if (this.isToDelete(one) && !this.isPartlyImported(subject)) {
      return [`${label(one)} is deleted in the export, but not in the registry`]
    }
    return []
  }
}

function wavesOf(
  archive: RegistryArchive,
  all: readonly SubjectVersion[],
  target: TargetRegistry,
): readonly (readonly SubjectImport[])[] {
  const depths = referenceDepths(all)
  const waves: Map<string, { register: ArchivedVersion[]; softDelete: number[] }>[] = []
  const subjectAt = (subject: string, depth: number) => {
    while (waves.length <= depth) waves.push(new Map())
    const wave = waves[depth]!
    const part = wave.get(subject) ?? { register: [], softDelete: [] }
    wave.set(subject, part)
    return part
  }
  for (const one of all) {
    const part = () => subjectAt(one.subject, depths.get(one) ?? 0)
    if (!target.version(one)) part().register.unshift(one.version)
    if (target.isToDelete(one)) part().softDelete.push(one.version.version)
  }
  // Subjects that are complete but still have mode IMPORT get their mode back.
  for (const { subject, mode } of archive.subjects)
    if (mode !== 'IMPORT' && target.isPartlyImported(subject)) subjectAt(subject, 0)
  return waves
    .map((wave) =>
      [...wave].map(([subject, part]): SubjectImport => {
        const { mode } = target.subject(subject)
        const isContextInImportMode = mode === undefined && target.context(contextOf(subject)).mode === 'IMPORT'
        return { subject, ...part, isContextInImportMode, mode: mode === 'IMPORT' ? undefined : mode }
      }),
    )
    .filter((wave) => wave.length > 0)
}

/** Modes that the import would have to replace temporarily, and that an interrupted import would lose. */
function blockingModes(archive: RegistryArchive, target: TargetRegistry): readonly string[] {
  return archive.subjects.flatMap(({ subject, mode: archived, versions }) => {
    const { mode } = target.subject(subject)
    const isBlocking = mode !== undefined && mode !== 'IMPORT' && mode !== archived
    const isIncomplete = versions.some((version) => !target.version({ subject, version }))
    return isBlocking && isIncomplete
      ? [`subject ${subject} has mode ${mode} in the registry: delete that mode first`]
      : []
  })
}

type SettingsPlan = Omit<ImportPlan, 'waves'>
/** Leaves configs and modes unchanged. */
export const NO_SETTINGS: SettingsPlan = { conflicts: [], contextConfigs: [], subjectConfigs: [], modes: [] }

function settingsPlan({ contexts, subjects }: RegistryArchive, target: TargetRegistry): SettingsPlan {
  const contextSettings = contexts.map((archived) => {
    const { context } = archived
    return { what: `context ${context}`, name: configNameOf(context), archived, current: target.context(context) }
  })
  const subjectSettings = subjects.map((archived) => {
    const { mode, ...rest } = target.subject(archived.subject)
    const current: ArchivedSettings = mode === undefined || mode === 'IMPORT' ? rest : { ...rest, mode }
    return { what: `subject ${archived.subject}`, name: archived.subject, archived, current }
  })
  const isReplaced = ({ archived }: (typeof contextSettings)[number]) => target.isEmpty(archived.context)
  return {
    conflicts: [
      ...contextSettings.flatMap((one) => (isReplaced(one) ? [] : differences(one, 'config'))),
      ...subjectSettings.flatMap((one) => differences(one, 'config')),
      ...[...contextSettings, ...subjectSettings].flatMap((one) => differences(one, 'mode')),
    ],
    contextConfigs: contextSettings.flatMap(configStep),
    subjectConfigs: subjectSettings.flatMap(configStep),
    modes: [...subjectSettings, ...contextSettings].flatMap(({ name, archived: { mode }, current }) =>
      mode === undefined || mode === current.mode ? [] : [{ name, mode }],
    ),
  }
}

type ComparedSettings = {
  readonly what: string
  readonly name: string | undefined
  readonly archived: ArchivedSettings
  readonly current: ArchivedSettings
}

function configStep({ name, archived: { config }, current }: ComparedSettings): readonly ConfigStep[] {
  return config === undefined || isDeepStrictEqual(config, current.config) ? [] : [{ name, config }]
}

function differences({ what, archived, current }: ComparedSettings, kind: 'config' | 'mode'): readonly string[] {
  const [archivedValue, currentValue] = [archived[kind], current[kind]]
  if (archivedValue === undefined || currentValue === undefined || isDeepStrictEqual(archivedValue, currentValue))
    return []
  return [`${what} has another ${kind} in the registry: ${text(currentValue)}, not ${text(archivedValue)}`]
}

function text(value: SubjectConfig | Mode): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function idKey({ subject, version }: SubjectVersion): string {
  return `${version.id} ${contextOf(subject)}`
}

function label({ subject, version }: SubjectVersion): string {
  return `${subject} version ${version.version}`
}
