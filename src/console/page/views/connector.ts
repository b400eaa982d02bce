import type { ComponentChildren } from 'preact'
import { counted } from '../../../common/counted.ts'
import { shownState } from '../../../common/state-glossary.ts'
import { deadLetterTopic } from '../../../common/topic-use.ts'
import { request } from '../api.ts'
import { ActionButton } from '../components/action-button.ts'
import { CopiedText } from '../components/copied-text.ts'
import { SectionLinks } from '../components/section-links.ts'
import { sentence } from '../components/sentence.ts'
import { StateBadge } from '../components/state-badge.ts'
import { configFields, type DeclaringResource, declaringResource } from '../config-fields.ts'
import { useValidation } from '../config-validation.ts'
import { connectorManifest } from '../connector-manifest.ts'
import { html } from '../html.ts'
import { hrefOf, pageLocation } from '../location.ts'
import { pathSegment } from '../path-segment.ts'
import { useQuery } from '../queries.ts'
import { type Runtime, useRights, useSession } from '../session.ts'
import type { Connector, ConnectorConfig, ConnectorStatusInfo } from '../wire.ts'
import { ConnectorConfiguration } from './connector-configuration.ts'
import { ConnectorEditor } from './connector-editor.ts'
import { ConnectorInstances } from './connector-instances.ts'
import { LogView } from './connector-log.ts'
import { MetricsView } from './connector-metrics.ts'
import { OffsetsView } from './connector-offsets.ts'
import { ConnectorRestarts } from './connector-restarts.ts'
import { DeadLettersView } from './dead-letters.ts'
import { DeclaredConnector, DriftNotice } from './declared-state.ts'

type ConnectorProps = { readonly runtime: Runtime; readonly name: string }

/** One connector. The third part of the path selects what is shown of it. */
export function ConnectorView({ runtime, name }: ConnectorProps) {
  const path = `${runtime.basePath}/connectors/${pathSegment(name)}`
  const changes = { kind: 'connector', name } as const
  const status = useQuery<ConnectorStatusInfo>(`${path}/status`, changes)
  const info = useQuery<Connector>(path, changes)
  const config = info.data.value?.config
  const declared = declaringResource(config)
  const deadLetters = deadLetterTopic(config, info.data.value?.type)
  const error = info.error.value ?? status.error.value
  const [, , section = ''] = pageLocation.value.path
  if (info.error.value?.status === 404)
    return html`<${Missing} runtime=${runtime} name=${name} reason=${info.error.value.message} />`
  return html`
    <p><a href=${hrefOf(['connectors'], { runtime: runtime.name })}>Connectors</a></p>
    <h1>${name} ${status.data.value && html`<${StateBadge} state=${shownState(status.data.value)} />`}</h1>
    ${error && html`<p class="error" role="alert">${error.message}</p>`}
    ${declared && html`<${Declaration} resource=${declared} />`}
    ${section !== 'declared' && html`<${DriftNotice} runtime=${runtime} kind="Connector" name=${name} />`}
    <${Actions} path=${path} name=${name} status=${status.data.value} declared=${declared} />
    <${Sections} runtime=${runtime} name=${name} config=${config} deadLetters=${deadLetters} />
    ${section === '' && html`<${StateSection} runtime=${runtime} name=${name} path=${path} status=${status.data.value} config=${config} />`}
    ${section === 'metrics' && info.data.value && html`<${MetricsView} runtime=${runtime} name=${name} type=${info.data.value.type} />`}
    ${section === 'log' && html`<${LogView} runtime=${runtime} name=${name} />`}
    ${section === 'offsets' && status.data.value && info.data.value && html`<${OffsetsView} path=${path} connector=${info.data.value} state=${status.data.value.connector.state} declared=${declared} />`}
    ${section === 'dead-letters' && deadLetters !== '' && html`<${DeadLettersView} basePath=${runtime.basePath} name=${name} topic=${deadLetters} />`}
    ${section === 'edit' && info.data.value && html`<${ConnectorEditor} runtime=${runtime} connector=${info.data.value} />`}
    ${section === 'declared' && config && html`<${DeclaredConnector} runtime=${runtime} name=${name} config=${config} />`}
    ${section === 'manifest' && info.data.value && html`<${Manifest} runtime=${runtime} connector=${info.data.value} state=${status.data.value?.connector.state} />`}
  `
}

type StateProps = ConnectorProps & {
  readonly path: string
  readonly status: ConnectorStatusInfo | undefined
  readonly config: ConnectorConfig | undefined
}

function StateSection({ runtime, name, path, status, config }: StateProps) {
  return html`
    ${status && html`<${ConnectorInstances} path=${path} name=${name} status=${status} />`}
    <${ConnectorRestarts} runtime=${runtime} name=${name} />
    ${config && html`<${ConnectorConfiguration} runtime=${runtime} config=${config} />`}
    <${Topics} path=${path} name=${name} />
  `
}

function Missing({ runtime, name, reason }: ConnectorProps & { readonly reason: string }) {
  return html`<p><a href=${hrefOf(['connectors'], { runtime: runtime.name })}>Connectors</a></p>
    <h1>${name}</h1>
    <p class="error" role="alert">${reason}. It has been deleted, or was never created.</p>`
}

const SECTIONS = [
  ['', 'State and configuration'],
  ['metrics', 'Metrics'],
  ['log', 'Log'],
  ['offsets', 'Offsets'],
  ['dead-letters', 'Dead letters'],
  ['edit', 'Edit'],
  ['declared', 'Declared'],
  ['manifest', 'Manifest'],
] as const

type SectionsProps = ConnectorProps & { readonly config: ConnectorConfig | undefined; readonly deadLetters: string }

function Sections({ runtime, name, config, deadLetters }: SectionsProps) {
  const { hasResources = false } = useSession().data.value ?? {}
  const hidden = new Set([...(hasResources ? [] : ['declared']), ...(deadLetters === '' ? ['dead-letters'] : [])])
  return html`<${SectionLinks} label="Sections of the connector" object=${['connectors', name]} runtime=${runtime}
    sections=${SECTIONS.filter(([section]) => !hidden.has(section))} areKnown=${config !== undefined} />`
}

function Declaration({ resource }: { readonly resource: DeclaringResource }) {
  return html`<p class="declared">Declared by the resource <code>Connector ${resource.namespace}/${resource.name}</code> (operator ${resource.instance}). Change the resource: the operator undoes other changes.</p>`
}

/** What the page knows of the resource that declares the connector, or of one that could. */
function Manifest({
  runtime,
  connector,
  state,
}: {
  readonly runtime: Runtime
  readonly connector: Connector
  readonly state?: string
}) {
  const { program } = useSession().data.value ?? {}
  const { report } = useValidation(runtime.basePath, connector.config)
  const declared = declaringResource(connector.config)
  const secretKeys = new Set(
    configFields(connector.config, report).flatMap(({ name, isSecret }) => (isSecret ? [name] : [])),
  )
  const text = connectorManifest({
    connector: connector.name,
    config: connector.config,
    secretKeys,
    ...(declared && { name: declared.name, namespace: declared.namespace }),
    ...(program === 'operator' && runtime.name !== 'default' && { worker: runtime.name }),
    ...(state !== undefined && { state }),
  })
  return html`<section aria-labelledby="manifest">
    <h2 id="manifest">Manifest</h2>
    <p>${
      declared
        ? 'What the worker runs now, as a resource. The resource that declares it may say more, such as where a secret is.'
        : 'No resource declares this connector. Apply this manifest so that the operator keeps it as it is.'
    }</p>
    <${CopiedText} name="Manifest" text=${text} />
  </section>`
}

function Topics({ path, name }: { readonly path: string; readonly name: string }) {
  const { data, error } = useQuery<Readonly<Record<string, { readonly topics: readonly string[] }>>>(`${path}/topics`, {
    kind: 'connector',
    name,
  })
  const topics = data.value?.[name]?.topics.toSorted()
  return html`<section aria-labelledby="topics">
    <h2 id="topics">Topics</h2>
    ${topics !== undefined && topics.length > 0 && html`<p><a href=${hrefOf(['graph'], { search: name })}>Graph of what writes and reads them</a></p>`}
    ${error.value && html`<p class="error" role="alert">${error.value.message}</p>`}
    ${topics?.length === 0 && html`<p>The connector has used no topic since its creation or the last reset.</p>`}
    <ul>${topics?.map((topic) => html`<li key=${topic}><a href=${hrefOf(['topics', topic], { runtime: pageLocation.value.filters['runtime'] ?? '' })}>${topic}</a></li>`)}</ul>
  </section>`
}

type ActionsProps = {
  readonly path: string
  readonly name: string
  readonly status: ConnectorStatusInfo | undefined
  readonly declared: DeclaringResource | undefined
}

function Actions({ path, name, status, declared }: ActionsProps) {
  const may = useRights('connectors', name)
  if (!may('lifecycle')) return null
  // Its place is kept, so that the links below do not move away from the pointer when the state is known.
  if (status === undefined) return html`<div class="actions"></div>`
  const { state } = status.connector
  const hasFailed = [status.connector, ...status.tasks].some((one) => one.state === 'FAILED')
  const put = (action: string) => () => request('PUT', `${path}/${action}`)
  const undone = declared
    ? sentence` The resource ${`${declared.namespace}/${declared.name}`} declares its state: the operator undoes this.`
    : ''
  const asks = (question: ComponentChildren) => html`${question}${undone}`
  return html`<div class="actions" role="group" aria-label=${`Actions of ${name}`}>
    ${
      state === 'PAUSED' || state === 'STOPPED'
        ? html`<${ActionButton} object=${name} run=${put('resume')} done=${sentence`Resumed ${name}`}
            question=${declared && asks(sentence`Resume ${name}?`)}>Resume<//>`
        : html`<${ActionButton} object=${name} run=${put('pause')} done=${sentence`Paused ${name}`}
            question=${declared && asks(sentence`Pause ${name}?`)}>Pause<//>`
    }
    ${
      state !== 'STOPPED' &&
      html`<${ActionButton} object=${name} run=${put('stop')} done=${sentence`Stopped ${name}`}
        question=${asks(sentence`Stop ${name}? Its tasks end. Its configuration and offsets are kept.`)}>Stop<//>`
    }
    ${
      hasFailed &&
      html`<${ActionButton} object=${`of ${name}`} run=${() => request('POST', `${path}/restart?includeTasks=true&onlyFailed=true`)}
        done=${sentence`Restarted what has failed of ${name}`}>Restart failed<//>`
    }
    <${ActionButton} object=${`of ${name}`} run=${() => request('POST', `${path}/restart?includeTasks=true`)}
      done=${sentence`Restarted ${name} and its tasks`}
      question=${sentence`Restart ${name} and ${counted(status.tasks.length, 'task')}?`}>Restart all<//>
    ${
      may('delete') &&
      html`<${ActionButton} object=${name} isDangerous=${true} run=${() => request('DELETE', path)} done=${sentence`Deleted ${name}`}
        question=${asks(sentence`Delete ${name}? Its configuration is lost. Its offsets are kept by Kafka Connect for a connector of the same name.`)}
        >Delete<//>`
    }
  </div>`
}
