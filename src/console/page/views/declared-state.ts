import { useEffect, useState } from 'preact/hooks'
import { counted } from '../../../common/counted.ts'
import { request } from '../api.ts'
import { CopiedText } from '../components/copied-text.ts'
import { SchemaDiff } from '../components/schema-diff.ts'
import { html } from '../html.ts'
import { hrefOf } from '../location.ts'
import { pathSegment, subjectSegment } from '../path-segment.ts'
import { useQuery } from '../queries.ts'
import { declaringResourceOf, needsAttention, type ReportedResource } from '../resource-rows.ts'
import { type Runtime, useSession } from '../session.ts'
import { readableSchema } from '../subject-versions.ts'
import type { ConnectorConfig, RegisteredVersion } from '../wire.ts'
import { ReadyBadge, useResources } from './resources.ts'

/** `GET /ui/api/resources/{kind}/{namespace}/{name}` of an operator. */
type Declaration = {
  readonly manifest: string
  readonly isMasked: boolean
  readonly driftPolicy?: string
  readonly isSuspended: boolean
  readonly synced?: { readonly status: string; readonly reason: string; readonly message: string }
  readonly subject?: {
    readonly schema?: string
    readonly schemaType: string
    readonly compatibility?: string
    readonly version?: number
  }
}
type Comparison = {
  readonly differences: readonly {
    readonly key: string
    readonly declared: string | null
    readonly running: string | null
  }[]
  readonly notCompared: readonly string[]
  readonly missing: readonly string[]
}

type SubjectProps = { readonly runtime: Runtime; readonly subject: string }
type DeclaredObject = { readonly runtime: Runtime; readonly kind: 'Connector' | 'Subject'; readonly name: string }

/** Says of a connector or subject that it differs from what is declared. Shows nothing where no operator runs. */
export function DriftNotice(props: DeclaredObject) {
  return useSession().data.value?.hasResources ? html`<${Notice} ...${props} />` : null
}

function Notice({ runtime, kind, name }: DeclaredObject) {
  const { data } = useResources()
  const resource = declaringResourceOf(data.value ?? [], { kind, runtime: runtime.name, object: name })
  if (resource?.drift === undefined) return null
  const view = kind === 'Connector' ? ['connectors', name, 'declared'] : ['subjects', name, 'declared']
  return html`<p class="declared drift" role="status"><strong>Drift:</strong> ${resource.drift}.
    <a href=${hrefOf(view, { runtime: runtime.name })}>Compare with what is declared</a></p>`
}

/** Names the resource that declares a subject. */
export function DeclaringSubject(props: SubjectProps) {
  return useSession().data.value?.hasResources ? html`<${SubjectOwner} ...${props} />` : null
}

function SubjectOwner({ runtime, subject }: SubjectProps) {
  const { data } = useResources()
  const resource = declaringResourceOf(data.value ?? [], { kind: 'Subject', runtime: runtime.name, object: subject })
  if (resource === undefined) return null
  const declared = hrefOf(['subjects', subject, 'declared'], { runtime: runtime.name })
  return html`<p class="declared">Declared by the resource <code>Subject ${resource.namespace}/${resource.name}</code>:
      change the resource. <a href=${declared}>Compare with what is declared</a></p>
    ${
      needsAttention(resource) &&
      html`<p class="error" role="status"><${ReadyBadge} resource=${resource} /> <strong>${resource.reason}:</strong> ${resource.message}</p>`
    }
    <${DriftNotice} runtime=${runtime} kind="Subject" name=${subject} />`
}

/** What a resource declares about a connector beside what the worker runs. */
export function DeclaredConnector({
  runtime,
  name,
  config,
}: {
  readonly runtime: Runtime
  readonly name: string
  readonly config: ConnectorConfig
}) {
  const toKeep = hrefOf(['connectors', name, 'manifest'], { runtime: runtime.name })
  return html`<${DeclaredSection} runtime=${runtime} kind="Connector" name=${name}>${(
    resource: ReportedResource,
    { driftPolicy }: Declaration,
  ) => html`<${ConfigComparison} resource=${resource} config=${config} />
    <p>${
      driftPolicy === 'Report' && html`To return to what is declared, set <code>driftPolicy: Correct</code>. `
    }To keep what runs, change the resource: the <a href=${toKeep}>manifest of what runs</a> has its configuration.</p>`}<//>`
}

/** What a resource declares about a subject beside what the registry has. */
export function DeclaredSubject({ runtime, subject }: SubjectProps) {
  return html`<p><a href=${hrefOf(['subjects', subject], { runtime: runtime.name })}>${subject}</a></p>
    <h1>${subject}</h1>
    <${DeclaredSection} runtime=${runtime} kind="Subject" name=${subject}>${(
      resource: ReportedResource,
      { subject: declared }: Declaration,
    ) =>
      declared &&
      html`<${SubjectComparison} runtime=${runtime} subject=${subject} declared=${declared} isApplied=${resource.ready === 'True'} />`}<//>`
}

type SectionProps = DeclaredObject & {
  readonly children: (resource: ReportedResource, declaration: Declaration) => unknown
}

function DeclaredSection({ runtime, kind, name, children }: SectionProps) {
  const { data, error } = useResources()
  const resource = declaringResourceOf(data.value ?? [], { kind, runtime: runtime.name, object: name })
  return html`<section aria-labelledby="declared">
    <h2 id="declared">What is declared</h2>
    ${error.value && html`<p class="error" role="alert">${error.value.message}</p>`}
    ${
      resource
        ? html`<${Declared} key=${`${resource.namespace}/${resource.name}`} resource=${resource}>${children}<//>`
        : !error.value && html`<p>${data.value ? `No ${kind} that you may read declares ${name}.` : 'Loading …'}</p>`
    }
  </section>`
}

function Declared({
  resource,
  children,
}: {
  readonly resource: ReportedResource
  readonly children: SectionProps['children']
}) {
  const { kind, namespace, name, message } = resource
  const { data, error } = useQuery<Declaration>(pathOf(resource), { kind: 'resource' })
  const declaration = data.value
  return html`<p>Declared by <code>${kind} ${namespace}/${name}</code>: <${ReadyBadge} resource=${resource} /> ${message}</p>
    ${error.value && html`<p class="error" role="alert">${error.value.message}</p>`}
    ${
      declaration &&
      html`<p>${policyOf(declaration)}</p>
        ${
          declaration.synced?.status === 'False' &&
          html`<p class="declared drift" role="status"><strong>${declaration.synced.reason}:</strong> ${declaration.synced.message}</p>`
        }
        ${children(resource, declaration)}
        <h3>The resource</h3>
        <p>Change it where it is declared, such as in git. What is changed here, the operator may undo.</p>
        ${
          declaration.isMasked &&
          html`<p class="error">It contains secrets in clear text, which are masked here: put them into a Secret, and refer to it
            with <code>valuesFrom</code>.</p>`
        }
        <${CopiedText} name="Manifest" text=${declaration.manifest} />`
    }`
}

function policyOf({ isSuspended, driftPolicy }: Declaration): string {
  if (isSuspended) return 'The resource is suspended: the operator changes nothing.'
  return driftPolicy === 'Report'
    ? 'The operator reports differences and does not correct them (driftPolicy: Report).'
    : 'The operator corrects differences (driftPolicy: Correct), so a difference is shown for a short time only.'
}

function pathOf({ kind, namespace, name }: ReportedResource): string {
  return `/ui/api/resources/${kind}/${pathSegment(namespace)}/${pathSegment(name)}`
}

/** The operator compares, as for reconciling, what this page has read with the rights of its user. */
function ConfigComparison({
  resource,
  config,
}: {
  readonly resource: ReportedResource
  readonly config: ConnectorConfig
}) {
  const [result, setResult] = useState<Comparison | string>()
  const path = `${pathOf(resource)}/comparison`
  const text = JSON.stringify(config)
  useEffect(() => {
    let isCurrent = true
    request<Comparison>('POST', path, { config: JSON.parse(text) }).then(
      (found) => isCurrent && setResult(found),
      (error: unknown) => isCurrent && setResult(error instanceof Error ? error.message : String(error)),
    )
    return () => {
      isCurrent = false
    }
  }, [path, text, resource.message, resource.drift])
  if (result === undefined) return html`<p role="status">Comparing …</p>`
  if (typeof result === 'string') return html`<p class="error" role="alert">It cannot be compared: ${result}</p>`
  const { differences, notCompared, missing } = result
  return html`${
    differences.length === 0
      ? html`<p role="status">The worker runs the declared configuration.</p>`
      : html`<p role="status">${counted(differences.length, 'key')} ${differences.length === 1 ? 'differs' : 'differ'}.</p>
          <div class="scrolled"><table class="offsets comparison" aria-label="Keys that differ">
            <thead><tr><th scope="col">Key</th><th scope="col">Declared</th><th scope="col">Runs</th></tr></thead>
            <tbody>${differences.map(
              ({ key, declared, running }) => html`<tr key=${key}>
                <th scope="row">${key}</th><td data-title="Declared"><${Value} value=${declared} /></td><td data-title="Runs"><${Value} value=${running} /></td>
              </tr>`,
            )}</tbody>
          </table></div>`
  }
  ${notCompared.length > 0 && html`<p>Not compared, because the values are secret: ${notCompared.join(', ')}.</p>`}
  ${missing.length > 0 && html`<p class="error">The declaration refers to what does not exist: ${missing.join(', ')}.</p>`}`
}

function Value({ value }: { readonly value: string | null }) {
  return value === null ? html`<span class="default">not set</span>` : html`<code>${value}</code>`
}

type SubjectComparisonProps = {
  readonly runtime: Runtime
  readonly subject: string
  readonly declared: NonNullable<Declaration['subject']>
  /** Whether the resource is Ready. If not, its version is that of an earlier declaration. */
  readonly isApplied: boolean
}

function SubjectComparison({ runtime, subject, declared, isApplied }: SubjectComparisonProps) {
  const { schema, compatibility } = declared
  const version = isApplied ? declared.version : undefined
  const root = `${runtime.basePath}/subjects/${subjectSegment(subject)}`
  const changes = { kind: 'subject', name: subject } as const
  const latest = useQuery<RegisteredVersion>(`${root}/versions/latest`, changes)
  const level = useQuery<{ readonly compatibilityLevel?: string }>(
    `${runtime.basePath}/config/${subjectSegment(subject)}?defaultToGlobal=true`,
    changes,
  )
  const found = latest.error.value === undefined ? latest.data.value : undefined
  const inForce = level.data.value?.compatibilityLevel
  return html`
    ${
      compatibility !== undefined &&
      html`<p>Compatibility level: declared <strong>${compatibility}</strong>, in force <strong>${inForce ?? '…'}</strong>${
        inForce !== undefined && inForce !== compatibility && '. They differ'
      }.</p>`
    }
    ${
      schema !== undefined &&
      html`<p>${version === undefined ? 'The declared schema is not registered.' : `The declared schema is version ${version}.`}
          ${found !== undefined && version !== undefined && found.version > version && ` Version ${found.version} is newer, and no resource declares it.`}</p>
        ${latest.error.value && html`<p class="error" role="alert">${latest.error.value.message}</p>`}
        ${
          found &&
          html`<${SchemaDiff} left=${{ title: `version ${found.version}, the latest`, text: readableSchema(found.schema) }}
            right=${{ title: 'declared', text: readableSchema(schema) }} />`
        }`
    }`
}
