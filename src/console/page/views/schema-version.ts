import { useEffect, useState } from 'preact/hooks'
import { request } from '../api.ts'
import { ActionButton } from '../components/action-button.ts'
import { Dependents } from '../components/dependents.ts'
import { LevelVerdicts } from '../components/level-verdicts.ts'
import { LocalTime } from '../components/local-time.ts'
import { ReferencePicture } from '../components/reference-picture.ts'
import { SchemaDiff } from '../components/schema-diff.ts'
import { sentence } from '../components/sentence.ts'
import { StateBadge } from '../components/state-badge.ts'
import { html } from '../html.ts'
import { hrefOf, setFilter } from '../location.ts'
import { subjectSegment } from '../path-segment.ts'
import { useQuery } from '../queries.ts'
import type { VersionName } from '../reference-graph.ts'
import { type Runtime, useRights } from '../session.ts'
import {
  REFERRERS_MAX,
  readableSchema,
  referencedVersion,
  registrationOf,
  resolveIds,
  usersOfIdPath,
  versionPath,
} from '../subject-versions.ts'
import type { RegisteredVersion } from '../wire.ts'

type VersionProps = {
  readonly runtime: Runtime
  readonly subject: string
  readonly version: number
  readonly isDeleted: boolean
}

/** One version: its schema, what it refers to, what refers to it, who uses its ID, and what may be done with it. */
export function Version(props: VersionProps) {
  const { runtime, subject, version, isDeleted } = props
  const path = versionPath(runtime.basePath, { subject, version })
  const { data, error } = useQuery<RegisteredVersion>(`${path}?deleted=true`, { kind: 'subject', name: subject })
  if (error.value && (data.value === undefined || error.value.status === 404)) {
    return html`<p class="error" role="alert">${error.value.message}</p>`
  }
  if (data.value === undefined) return html`<p>Loading …</p>`
  const { id, guid, ts, schemaType = 'AVRO', schema, metadata, ruleSet } = data.value
  return html`<section aria-label=${`Version ${version}`}>
    <h2>Version ${version} ${isDeleted && html`<${StateBadge} state="DELETED" />`}
      <small>id ${id}, ${schemaType}${ts !== undefined && ts > 0 && html`, <${LocalTime} ms=${ts} />`}</small></h2>
    ${guid !== undefined && html`<p class="reason">GUID ${guid}</p>`}
    <${VersionActions} ...${props} content=${data.value} />
    <pre class="schema" tabindex="0" role="group" aria-label="Schema">${readableSchema(schema)}</pre>
    <${Members} title="Metadata" value=${metadata} />
    <${Members} title="Rules" value=${ruleSet} />
    <${References} runtime=${runtime} content=${data.value} of=${{ subject, version }} />
    <${UsersOfId} runtime=${runtime} subject=${subject} id=${id} />
  </section>`
}

function Members({ title, value }: { readonly title: string; readonly value: unknown }) {
  if (value === undefined || value === null) return null
  return html`<h3>${title}</h3><pre tabindex="0" role="group" aria-label=${title}>${JSON.stringify(value, null, 2)}</pre>`
}

type VersionActionsProps = VersionProps & { readonly content: RegisteredVersion }

function VersionActions({ runtime, subject, version, isDeleted, content }: VersionActionsProps) {
  const may = useRights('subjects', subject)
  const path = versionPath(runtime.basePath, { subject, version })
  const dependents = html`<${Dependents} runtime=${runtime} of=${[{ subject, version }]} />`
  const versions = `${runtime.basePath}/subjects/${subjectSegment(subject)}/versions`
  return html`<div class="actions" role="group" aria-label=${`Actions of version ${version}`}>
    ${
      isDeleted &&
      may('write') &&
      html`<${ActionButton} object=${`version ${version}`} run=${() => request('POST', versions, registrationOf(content)).then(showLatest)}
        done=${sentence`Restored version ${version} of ${subject}`}
        question=${html`<p>Restore version ${version} of <bdi>${subject}</bdi>? Its schema is registered again, with the same ID ${content.id}
          and the next version number, if it is compatible with the present versions.</p>`}
        >Restore<//>`
    }
    ${
      !isDeleted &&
      may('delete') &&
      html`<${ActionButton} isDangerous=${true} run=${() => request('DELETE', path)}
        done=${sentence`Deleted version ${version} of ${subject}`}
        question=${html`<p>Delete version ${version} of <bdi>${subject}</bdi>? It stays readable by its ID ${content.id}, and can be
          restored until it is deleted permanently.</p>${dependents}`}
        >Delete version<//>`
    }
    ${
      isDeleted &&
      may('harddelete') &&
      html`<${ActionButton} isDangerous=${true} run=${() => request('DELETE', `${path}?permanent=true`).then(showLatest)}
        done=${sentence`Permanently deleted version ${version} of ${subject}`}
        question=${html`<p>Permanently delete version ${version} of <bdi>${subject}</bdi>? If no other version has ID ${content.id}, data that
          was written with it becomes unreadable. This cannot be undone.</p>${dependents}
          <${UsersOfId} runtime=${runtime} subject=${subject} id=${content.id} />`}
        >Delete version permanently<//>`
    }
  </div>`
}

/** A version that was restored or permanently deleted no longer exists. */
const showLatest = () => setFilter('version', '')

type ReferencesProps = { readonly runtime: Runtime; readonly content: RegisteredVersion; readonly of: VersionName }

function References({ runtime, content, of }: ReferencesProps) {
  const { referrers, total, error } = useReferrers(runtime, of)
  const references = (content.references ?? []).map((one) => ({
    name: one.name,
    ...referencedVersion(of.subject, one),
  }))
  return html`<h3>References</h3>
    ${error !== undefined && html`<p class="error" role="alert">What refers to it is unknown: ${error}</p>`}
    ${
      (referrers.length > 0 || references.length > 0) &&
      html`<${ReferencePicture} center=${of} referrers=${referrers} references=${references} />`
    }
    <div class="columns">
      <div><h4>Refers to</h4>
        ${references.length === 0 && html`<p>Nothing.</p>`}
        <ul>${references.map(
          (one) => html`<li key=${one.name}>${one.name}: <${VersionLink} runtime=${runtime} to=${one} /></li>`,
        )}</ul>
      </div>
      <div><h4>Is referred to by</h4>
        ${total === undefined ? error === undefined && html`<p>Loading …</p>` : total === 0 && html`<p>Nothing.</p>`}
        <ul>${referrers.map(
          (one) =>
            html`<li key=${`${one.subject} ${one.version}`}><${VersionLink} runtime=${runtime} to=${one} /></li>`,
        )}</ul>
        ${total !== undefined && total > REFERRERS_MAX && html`<p>${total - REFERRERS_MAX} more schemas are not shown.</p>`}
      </div>
    </div>`
}

type Referrers = {
  readonly referrers: readonly VersionName[]
  /** Schemas that refer to it; undefined while unknown. */
  readonly total: number | undefined
  readonly error: string | undefined
}

function useReferrers(runtime: Runtime, of: VersionName): Referrers {
  const path = `${versionPath(runtime.basePath, of)}/referencedby?deleted=true`
  const ids = useQuery<readonly number[]>(path, { kind: 'subject' })
  const [referrers, setReferrers] = useState<readonly VersionName[]>([])
  const [error, setError] = useState<string>()
  const known = ids.data.value
  useEffect(() => {
    let isShown = true
    resolveIds(runtime.basePath, of.subject, known ?? []).then(
      (found) => {
        if (!isShown) return
        setReferrers(found)
        setError(undefined)
      },
      (reason) => isShown && setError(reason instanceof Error ? reason.message : String(reason)),
    )
    return () => {
      isShown = false
    }
  }, [runtime.basePath, of.subject, known?.join()])
  return { referrers, total: known?.length, error: ids.error.value?.message ?? error }
}

function VersionLink({ runtime, to }: { readonly runtime: Runtime; readonly to: VersionName }) {
  const filters = { runtime: runtime.name, version: String(to.version) }
  return html`<a href=${hrefOf(['subjects', to.subject], filters)}>${to.subject} version ${to.version}</a>`
}

type UsersOfIdProps = { readonly runtime: Runtime; readonly subject: string; readonly id: number }

function UsersOfId({ runtime, subject, id }: UsersOfIdProps) {
  const users = useQuery<readonly VersionName[]>(usersOfIdPath(runtime.basePath, subject, id), { kind: 'subject' })
  return html`<h3>Versions with ID ${id}</h3>
    ${users.error.value && html`<p class="error" role="alert">${users.error.value.message}</p>`}
    <ul>${users.data.value?.map(
      (one) => html`<li key=${`${one.subject} ${one.version}`}><${VersionLink} runtime=${runtime} to=${one} /></li>`,
    )}</ul>`
}

type ComparedVersionsProps = {
  readonly runtime: Runtime
  readonly subject: string
  readonly left: number
  readonly right: number
}

export function ComparedVersions({ runtime, subject, left, right }: ComparedVersionsProps) {
  const pathOf = (version: number) => `${versionPath(runtime.basePath, { subject, version })}?deleted=true`
  const before = useQuery<RegisteredVersion>(pathOf(left), { kind: 'subject', name: subject })
  const after = useQuery<RegisteredVersion>(pathOf(right), { kind: 'subject', name: subject })
  const error = before.error.value ?? after.error.value
  const [old, current] = [before.data.value, after.data.value]
  if (error) return html`<p class="error" role="alert">${error.message}</p>`
  if (old === undefined || current === undefined) return html`<p>Loading …</p>`
  const side = (version: RegisteredVersion) => ({
    title: `Version ${version.version}, id ${version.id}`,
    text: comparable(version),
  })
  return html`<section aria-label="Comparison">
    <h2>Version ${left} compared with ${right}</h2>
    <${LevelVerdicts} runtime=${runtime} subject=${subject} older=${Math.min(left, right)} newer=${Math.max(left, right)} />
    <${SchemaDiff} left=${side(old)} right=${side(current)} />
  </section>`
}

/** What belongs to a version besides its text is compared, too. */
function comparable({ schema, schemaType = 'AVRO', references = [], metadata, ruleSet }: RegisteredVersion): string {
  const members = {
    ...(schemaType === 'AVRO' ? {} : { schemaType }),
    ...(references.length > 0 ? { references } : {}),
    ...(metadata === undefined ? {} : { metadata }),
    ...(ruleSet === undefined ? {} : { ruleSet }),
  }
  const text = readableSchema(schema)
  return Object.keys(members).length === 0 ? text : `${text}\n${JSON.stringify(members, null, 2)}`
}
