import { isDeepStrictEqual } from 'node:util'
import type { Mode, SubjectConfig } from '../../clients/registry.ts'
import {
  type ArchivedSettings,
  type ArchivedSubject,
  type ArchivedVersion,
  configNameOf,
  contextNameOf,
  GLOBAL_CONTEXT_NAME,
  isIdenticalSchema,
  type RegistryArchive,
  type SubjectVersion,
  versionKey,
  versionsOf,
} from './archive.ts'
import { referenceDepths } from './reference-depths.ts'

/** What is set for a name; undefined is the default context. */
export type ConfigStep = { readonly name: string | undefined; readonly config: SubjectConfig }
export type ModeStep = { readonly name: string | undefined; readonly mode: Mode }

/** What is done to one subject while its mode is IMPORT. */
export type SubjectImport = {
  readonly subject: string
  /** The newest first: one that is registered later takes deleted older ones with the same id away for good. */
  readonly register: readonly ArchivedVersion[]
  /** Then deleted softly. */
  readonly softDelete: readonly number[]
  /** Whether the context's mode lets ids in already. */
  readonly isContextInImportMode: boolean
  /** The subject's own mode, as it has to be again. */
  readonly mode: Mode | undefined
}

/** What makes a registry hold what a dump does, in the order of these members. */
export type ImportPlan = {
  /** A sentence for each thing that the registry holds and that contradicts the dump. */
  readonly conflicts: readonly string[]
  readonly contextConfigs: readonly ConfigStep[]
  /** The parts of a wave refer only to those of earlier ones. */
  readonly waves: readonly (readonly SubjectImport[])[]
  readonly subjectConfigs: readonly ConfigStep[]
  readonly modes: readonly ModeStep[]
}

export type PlanOptions = {
  /** Configs and modes stay as they are. */
  readonly schemasOnly: boolean
}

/**
 * Pure, and right again after an import that was cut off: what it had written is there, and a subject whose own mode is
 * IMPORT is one that it was about to finish.
 */
export function planImport(dump: RegistryArchive, target: RegistryArchive, { schemasOnly }: PlanOptions): ImportPlan {
  const there = new Target(target)
  const all = versionsOf(dump)
  const settings = schemasOnly ? NO_SETTINGS : settingsPlan(dump, there)
  return {
    conflicts: [...all.flatMap((one) => there.conflictsOf(one)), ...blockingModes(dump, there), ...settings.conflicts],
    contextConfigs: settings.contextConfigs,
    waves: wavesOf(dump, all, there),
    subjectConfigs: settings.subjectConfigs,
    modes: settings.modes,
  }
}

/** How many versions are still to be registered. */
export function countVersionsToRegister({ waves }: ImportPlan): number {
  return waves.flat().reduce((sum, { register }) => sum + register.length, 0)
}

/** What the registry holds, by name. */
class Target {
  readonly #contexts: ReadonlyMap<string, ArchivedSettings>
  readonly #subjects: ReadonlyMap<string, ArchivedSubject>
  readonly #versions = new Map<string, ArchivedVersion>()
  /** One holder of each id. */
  readonly #holders = new Map<string, SubjectVersion>()
  readonly #used = new Set<string>()

  constructor(target: RegistryArchive) {
    this.#contexts = new Map(target.contexts.map((one) => [one.context, one]))
    this.#subjects = new Map(target.subjects.map((one) => [one.subject, one]))
    for (const one of versionsOf(target)) {
      this.#used.add(contextNameOf(one.subject))
      this.#versions.set(versionKey(one.subject, one.version.version), one.version)
      this.#holders.set(idKey(one), one)
    }
  }

  subject(subject: string): ArchivedSettings {
    return this.#subjects.get(subject) ?? {}
  }

  context(context: string): ArchivedSettings {
    return this.#contexts.get(context) ?? {}
  }

  /** Whether a context holds nothing yet: what answers for its config then is a default. */
  isFresh(context: string): boolean {
    return context === GLOBAL_CONTEXT_NAME ? this.#used.size === 0 : !this.#used.has(context)
  }

  /** Whether an import had begun with this subject and was cut off. */
  hasBegun(subject: string): boolean {
    return this.subject(subject).mode === 'IMPORT'
  }

  version({ subject, version }: SubjectVersion): ArchivedVersion | undefined {
    return this.#versions.get(versionKey(subject, version.version))
  }

  /** A version that is live here and deleted in the dump. */
  isToDelete(one: SubjectVersion): boolean {
    return one.version.deleted === true && this.version(one)?.deleted !== true
  }

  conflictsOf(one: SubjectVersion): readonly string[] {
    const there = this.version(one)
    if (there) return this.#versionConflicts(one, there)
    const holder = this.#holders.get(idKey(one))
    if (!holder || isIdenticalSchema(holder.version, one.version)) return []
    return [`id ${one.version.id} of ${label(one)} is another schema there, that of ${label(holder)}`]
  }

  #versionConflicts(one: SubjectVersion, there: ArchivedVersion): readonly string[] {
    const { version, subject } = one
    if (there.id !== version.id) return [`${label(one)} has id ${there.id} there, not ${version.id}`]
    if (!isIdenticalSchema(there, version)) return [`${label(one)} is another schema there`]
    if (there.deleted && !version.deleted) return [`${label(one)} is deleted there, but not in the export`]
    if (this.isToDelete(one) && !this.hasBegun(subject)) {
      return [`${label(one)} is deleted in the export, but not there`]
    }
    return []
  }
}

function wavesOf(
  dump: RegistryArchive,
  all: readonly SubjectVersion[],
  there: Target,
): readonly (readonly SubjectImport[])[] {
  const depths = referenceDepths(all)
  const waves: Map<string, { register: ArchivedVersion[]; softDelete: number[] }>[] = []
  const partOf = (subject: string, depth: number) => {
    while (waves.length <= depth) waves.push(new Map())
    const wave = waves[depth]!
    const part = wave.get(subject) ?? { register: [], softDelete: [] }
    wave.set(subject, part)
    return part
  }
  for (const one of all) {
    const part = () => partOf(one.subject, depths.get(one) ?? 0)
    if (!there.version(one)) part().register.unshift(one.version)
    if (there.isToDelete(one)) part().softDelete.push(one.version.version)
  }
  // Those that have everything still need their mode back.
  for (const { subject, mode } of dump.subjects) if (mode !== 'IMPORT' && there.hasBegun(subject)) partOf(subject, 0)
  return waves
    .map((wave) =>
      [...wave].map(([subject, part]): SubjectImport => {
        const { mode } = there.subject(subject)
        const isOpen = mode === undefined && there.context(contextNameOf(subject)).mode === 'IMPORT'
        return { subject, ...part, isContextInImportMode: isOpen, mode: mode === 'IMPORT' ? undefined : mode }
      }),
    )
    .filter((wave) => wave.length > 0)
}

/** A mode that would have to step aside, and that nobody would know any more if the import were cut off. */
function blockingModes(dump: RegistryArchive, there: Target): readonly string[] {
  return dump.subjects.flatMap(({ subject, mode: ours, versions }) => {
    const { mode } = there.subject(subject)
    const isInTheWay = mode !== undefined && mode !== 'IMPORT' && mode !== ours
    const lacksSome = versions.some((version) => !there.version({ subject, version }))
    return isInTheWay && lacksSome ? [`subject ${subject} has mode ${mode} there: delete that mode first`] : []
  })
}

type SettingsPlan = Omit<ImportPlan, 'waves'>
const NO_SETTINGS: SettingsPlan = { conflicts: [], contextConfigs: [], subjectConfigs: [], modes: [] }

function settingsPlan({ contexts, subjects }: RegistryArchive, there: Target): SettingsPlan {
  const ofContexts = contexts.map((ours) => {
    const { context } = ours
    return { what: `context ${context}`, name: configNameOf(context), ours, theirs: there.context(context) }
  })
  const ofSubjects = subjects.map((ours) => {
    const { mode, ...rest } = there.subject(ours.subject)
    const theirs: ArchivedSettings = mode === undefined || mode === 'IMPORT' ? rest : { ...rest, mode }
    return { what: `subject ${ours.subject}`, name: ours.subject, ours, theirs }
  })
  const isReplaced = ({ ours }: (typeof ofContexts)[number]) => there.isFresh(ours.context)
  return {
    conflicts: [
      ...ofContexts.flatMap((one) => (isReplaced(one) ? [] : differences(one, 'config'))),
      ...ofSubjects.flatMap((one) => differences(one, 'config')),
      ...[...ofContexts, ...ofSubjects].flatMap((one) => differences(one, 'mode')),
    ],
    contextConfigs: ofContexts.flatMap(configStep),
    subjectConfigs: ofSubjects.flatMap(configStep),
    modes: [...ofSubjects, ...ofContexts].flatMap(({ name, ours: { mode }, theirs }) =>
      mode === undefined || mode === theirs.mode ? [] : [{ name, mode }],
    ),
  }
}

type ComparedSettings = {
  readonly what: string
  readonly name: string | undefined
  readonly ours: ArchivedSettings
  readonly theirs: ArchivedSettings
}

function configStep({ name, ours: { config }, theirs }: ComparedSettings): readonly ConfigStep[] {
  return config === undefined || isDeepStrictEqual(config, theirs.config) ? [] : [{ name, config }]
}

function differences({ what, ours, theirs }: ComparedSettings, kind: 'config' | 'mode'): readonly string[] {
  const [one, other] = [ours[kind], theirs[kind]]
  if (one === undefined || other === undefined || isDeepStrictEqual(one, other)) return []
  return [`${what} has another ${kind} there: ${text(other)}, not ${text(one)}`]
}

function text(value: SubjectConfig | Mode): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function idKey({ subject, version }: SubjectVersion): string {
  return `${version.id} ${contextNameOf(subject)}`
}

function label({ subject, version }: SubjectVersion): string {
  return `${subject} version ${version.version}`
}
