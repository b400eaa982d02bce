import { useMemo } from 'preact/hooks'
import { counted } from '../../../common/counted.ts'
import { request } from '../api.ts'
import { ActionButton } from '../components/action-button.ts'
import { Dependents } from '../components/dependents.ts'
import { ScopeSettings } from '../components/scope-settings.ts'
import { sentence } from '../components/sentence.ts'
import { VersionChoice } from '../components/version-choice.ts'
import { html } from '../html.ts'
import { hrefOf, pageLocation } from '../location.ts'
import { subjectSegment } from '../path-segment.ts'
import { useQuery } from '../queries.ts'
import { type Runtime, useRights } from '../session.ts'
import { useSubjectUses } from '../subject-use-query.ts'
import { type VersionState, versionStates } from '../subject-versions.ts'
import { DeclaredSubject, DeclaringSubject } from './declared-state.ts'
import { SchemaDraft } from './schema-draft.ts'
import { ComparedVersions, Version } from './schema-version.ts'

export type SubjectProps = { readonly runtime: Runtime; readonly subject: string }

type SubjectViewProps = SubjectProps & {
  /** Those whose connectors may use the subject. */
  readonly workers: readonly Runtime[]
}

/** One subject: its versions, one of them or two compared, its level and mode. Its draft is a page below it. */
export function SubjectView({ runtime, subject, workers }: SubjectViewProps) {
  const { path, filters } = pageLocation.value
  const root = `${runtime.basePath}/subjects/${subjectSegment(subject)}`
  const live = useQuery<readonly number[]>(`${root}/versions`, { kind: 'subject', name: subject })
  const all = useQuery<readonly number[]>(`${root}/versions?deleted=true`, { kind: 'subject', name: subject })
  const found = (query: typeof live) => (query.error.value?.status === 404 ? [] : (query.data.value ?? []))
  const versions = useMemo(
    () => versionStates(found(live), found(all)),
    [...[live.data.value, live.error.value, all.data.value, all.error.value]],
  )
  const latest = versions.findLast(({ isDeleted }) => !isDeleted) ?? versions.at(-1)
  const selected = Number(filters['version'] ?? latest?.version)
  const compared = Number(filters['compare'] ?? 0)
  const error = all.error.value
  if (path[2] === 'draft') {
    return html`<${SchemaDraft} runtime=${runtime} subject=${subject} latest=${latest?.version} />`
  }
  if (path[2] === 'declared') return html`<${DeclaredSubject} runtime=${runtime} subject=${subject} />`
  return html`
    <p><a href=${hrefOf(['subjects'], { runtime: runtime.name })}>Subjects</a></p>
    <h1>${subject}</h1>
    <${DeclaringSubject} runtime=${runtime} subject=${subject} />
    <${SubjectUsers} subject=${subject} workers=${workers} />
    ${
      error &&
      html`<p class="error" role="alert">${
        error.status === 404 ? `There is no subject '${subject}': it has no version, or was deleted.` : error.message
      }</p>`
    }
    <${SubjectActions} runtime=${runtime} subject=${subject} versions=${versions} />
    ${versions.length > 0 && html`<${VersionChoice} versions=${versions} selected=${selected} compared=${compared} />`}
    ${
      versions.length === 0
        ? !error && html`<p>Loading …</p>`
        : compared > 0 && compared !== selected
          ? html`<${ComparedVersions} key=${`${compared} ${selected}`} runtime=${runtime} subject=${subject}
              left=${compared} right=${selected} />`
          : html`<${Version} key=${selected} runtime=${runtime} subject=${subject} version=${selected}
              isDeleted=${versions.find(({ version }) => version === selected)?.isDeleted ?? false} />`
    }
    <${ScopeSettings} runtime=${runtime} subject=${subject} />
  `
}

/** The topics and connectors that use the subject, as far as the workers know. */
function SubjectUsers({ subject, workers }: { readonly subject: string; readonly workers: readonly Runtime[] }) {
  const { topics, connectors } = useSubjectUses(workers).value(subject)
  const [topic] = topics
  if (topic === undefined) return null
  const links = (view: string, names: readonly string[]) =>
    names.map((name, at) => html`${at > 0 && ', '}<a key=${name} href=${hrefOf([view, name])}>${name}</a>`)
  return html`<p>Used by ${topics.length === 1 ? 'the topic' : 'the topics'} ${links('topics', topics)} and
    ${' '}${links('connectors', connectors)}:
    ${' '}<a href=${hrefOf(['graph'], { search: topic })}>graph</a>.</p>`
}

type SubjectActionsProps = SubjectProps & { readonly versions: readonly VersionState[] }

function SubjectActions({ runtime, subject, versions }: SubjectActionsProps) {
  const may = useRights('subjects', subject)
  const root = `${runtime.basePath}/subjects/${subjectSegment(subject)}`
  const isDeleted = versions.length > 0 && versions.every((version) => version.isDeleted)
  const dependents = (numbers: readonly number[]) =>
    html`<${Dependents} runtime=${runtime} of=${numbers.map((version) => ({ subject, version }))} />`
  const numbers = versions.map(({ version }) => version)
  const live = versions.filter((one) => !one.isDeleted).map(({ version }) => version)
  return html`<div class="actions" role="group" aria-label=${`Actions of ${subject}`}>
    ${
      may('write') &&
      html`<a class="button" href=${hrefOf(['subjects', subject, 'draft'], { runtime: runtime.name })}>Register a new version</a>`
    }
    ${
      may('delete') &&
      live.length > 0 &&
      html`<${ActionButton} isDangerous=${true} run=${() => request('DELETE', root)} done=${sentence`Deleted ${subject}`}
        question=${html`<p>Delete subject <bdi>${subject}</bdi> with ${counted(live.length, 'version')}? Producers can no longer register or find
          them. They stay readable by ID, and can be restored until they are deleted permanently.</p>${dependents(live)}`}
        >Delete subject<//>`
    }
    ${
      may('harddelete') &&
      isDeleted &&
      html`<${ActionButton} isDangerous=${true} run=${() => request('DELETE', `${root}?permanent=true`)}
        done=${sentence`Permanently deleted ${subject}`}
        question=${html`<p>Permanently delete subject <bdi>${subject}</bdi> with ${counted(numbers.length, 'version')}? Data that was written
          with a schema of it alone becomes unreadable. This cannot be undone.</p>${dependents(numbers)}`}
        >Delete subject permanently<//>`
    }
  </div>`
}
