import { API_VERSION } from '../../common/resource-api.ts'
import { parseResource } from '../../operator/main.ts'
import { objectNamesOf } from '../manifests/resource-names.ts'
import type { SecretKeyFinder } from '../manifests/secret-settings.ts'
import { buildConnector, type SecretToCreate } from './build-connector.ts'
import type { ConversionReport } from './conversion-report.ts'
import type { ResourceDraft, SubjectDraft } from './drafts.ts'
import { mergeSubjects } from './merge-subjects.ts'

/** A resource of Weir as it is written to a file. */
export type Manifest = {
  readonly apiVersion: string
  readonly kind: ResourceDraft['kind']
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly spec: Readonly<Record<string, unknown>>
}

export type BuiltManifests = { readonly manifests: readonly Manifest[]; readonly secrets: readonly SecretToCreate[] }

export type BuildOptions = {
  readonly secretKeysOf: SecretKeyFinder
  /** Name of the worker cluster of all Connectors, instead of those of the input. */
  readonly workerRef?: string | undefined
  readonly registryRef?: string | undefined
}

/**
 * Assigns names, separates secrets and validates. A resource that Weir would not accept is reported where it comes from,
 * and is not in the result.
 */
export function buildManifests(
  drafts: readonly ResourceDraft[],
  options: BuildOptions,
  report: ConversionReport,
): BuiltManifests {
  const merged = withoutDuplicates(mergeSubjects(drafts, report), report)
  const names = objectNamesOf(
    merged.map(({ kind, metadata: { name, namespace } }) => ({ kind, namespace, original: name })),
  )
  const subjectNames = new Map(
    merged.flatMap((draft, at) => (draft.kind === 'Subject' ? [[referenceKey(draft, draft.subject), names[at]!]] : [])),
  )
  const manifests: Manifest[] = []
  const secrets: SecretToCreate[] = []
  merged.forEach((draft, at) => {
    const name = names[at]!
    const { spec, secret } = specOf(draft, name, subjectNames, options, report)
    const { namespace, labels, annotations } = draft.metadata
    const manifest: Manifest = {
      apiVersion: API_VERSION,
      kind: draft.kind,
      metadata: {
        name,
        ...(namespace !== undefined && { namespace }),
        ...(labels.size > 0 && { labels: Object.fromEntries(labels) }),
        ...(annotations.size > 0 && { annotations: Object.fromEntries(annotations) }),
      },
      spec: withoutAbsent(spec),
    }
    const { errors } = parseResource(manifest)
    const { document, path } = draft.origin
    for (const { message } of errors) {
      report.add('failed', document, path, `is not a valid ${draft.kind} of Weir: ${message}`)
    }
    if (errors.length > 0) return
    manifests.push(manifest)
    if (secret !== undefined) secrets.push(secret)
  })
  return { manifests, secrets }
}

type Spec = Readonly<Record<string, unknown>>

function specOf(
  draft: ResourceDraft,
  name: string,
  subjectNames: ReadonlyMap<string, string>,
  { secretKeysOf, workerRef, registryRef }: BuildOptions,
  report: ConversionReport,
): { readonly spec: Spec; readonly secret?: SecretToCreate | undefined } {
  if (draft.kind === 'Connector') {
    return buildConnector({ ...draft, workerRef: workerRef ?? draft.workerRef }, name, secretKeysOf, report)
  }
  const registry = registryRef ?? draft.registryRef
  const ref = registry === undefined ? undefined : { name: registry }
  if (draft.kind === 'RegistryMode') return { spec: { registryRef: ref, ...draft.spec } }
  const references = referencesOf(draft, subjectNames, report)
  return {
    spec: {
      registryRef: ref,
      subject: draft.subject === name ? undefined : draft.subject,
      ...draft.spec,
      references: references.length === 0 ? undefined : references,
    },
  }
}

/** A subject of the same input is referenced by its resource, so that it is registered first. */
function referencesOf(
  draft: SubjectDraft,
  subjectNames: ReadonlyMap<string, string>,
  report: ConversionReport,
): readonly Spec[] {
  return draft.references.flatMap(({ name, subject, version, origin }): readonly Spec[] => {
    const declared = subjectNames.get(referenceKey(draft, subject))
    const pinned = version === undefined ? {} : { version }
    if (declared !== undefined) return [{ name, subjectRef: { name: declared }, ...pinned }]
    if (version !== undefined) return [{ name, subject, version }]
    const remedy = `set version in the reference, or convert subject ${subject} together with this one`
    report.add(
      'lost',
      origin.document,
      origin.path,
      `refers to the latest version of a subject outside of the input: ${remedy}`,
    )
    return []
  })
}

function referenceKey({ registryRef = '', metadata: { namespace = '' } }: SubjectDraft, subject: string): string {
  return JSON.stringify([namespace, registryRef, subject])
}

function withoutDuplicates(drafts: readonly ResourceDraft[], report: ConversionReport): readonly ResourceDraft[] {
  const first = new Map<string, ResourceDraft>()
  return drafts.filter((draft) => {
    const { kind, metadata, origin } = draft
    const key = JSON.stringify([kind, metadata.namespace ?? '', metadata.name])
    const earlier = first.get(key)
    if (earlier === undefined) {
      first.set(key, draft)
      return true
    }
    const place = `${earlier.origin.document.file}:${earlier.origin.document.lineOf(earlier.origin.path)}`
    report.add('failed', origin.document, origin.path, `${kind} ${metadata.name} is declared at ${place} already`)
    return false
  })
}

function withoutAbsent(spec: Spec): Spec {
  return Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== undefined))
}
