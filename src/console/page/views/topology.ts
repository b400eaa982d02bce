import { computed } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { counted } from '../../../common/counted.ts'
import { topicUses, type WorkerTopicUse } from '../../../common/topic-use.ts'
import { FirstStep } from '../components/first-step.ts'
import { valueInto } from '../components/log-in.ts'
import { StateBadge } from '../components/state-badge.ts'
import { TopologyPicture } from '../components/topology-picture.ts'
import { type ConnectorRow, connectorRows } from '../connector-rows.ts'
import { html } from '../html.ts'
import { hrefOf, pageLocation, setFilter } from '../location.ts'
import { useQuery } from '../queries.ts'
import type { Runtime } from '../session.ts'
import { filterTopology, type TopologyTopic, topologyTopics } from '../topology.ts'
import type { ExpandedConnectors } from '../wire.ts'
import type { GroupLoads } from '../worker-rows.ts'

/** Topics in the list; more are shown when the search narrows them. */
const LISTED_MAX = 200

type TopologyProps = { readonly runtime: Runtime; readonly registry: Runtime | undefined }

/** Which connectors write and read which topics, as a picture and as a list, with schemas, states and lag. The search is in the URL. */
export function Topology({ runtime, registry }: TopologyProps) {
  const { basePath } = runtime
  const { data, error } = useQuery<ExpandedConnectors>(`${basePath}/connectors?expand=info&expand=status`, {
    kind: 'connector',
  })
  const { data: used } = useQuery<WorkerTopicUse>(`${basePath}/ui/api/connector-topics`, { kind: 'connector' })
  const { data: loads } = useQuery<GroupLoads>(`${basePath}/ui/api/connector-metrics`)
  const all = useMemo(() => computed(() => topologyTopics(topicUses(data.value ?? {}, used.value))), [data, used])
  const rows = useMemo(
    () => computed(() => new Map(connectorRows(data.value ?? {}, loads.value).map((row) => [row.name, row] as const))),
    [data, loads],
  )
  const search = pageLocation.value.filters['search'] ?? ''
  const topics = filterTopology(all.value, search)
  return html`
    <h1>Graph</h1>
    <form class="filters" role="search" aria-label="Graph" onSubmit=${(event: Event) => event.preventDefault()}>
      <label>Search topics, connectors and subjects
        <input type="search" value=${search} onInput=${valueInto((value) => setFilter('search', value))} /></label>
      <span role="status">${topics.length.toLocaleString('en')} of ${counted(all.value.length, 'topic')}</span>
    </form>
    ${error.value && html`<p class="error" role="alert">${error.value.message}</p>`}
    ${data.value === undefined && !error.value && html`<p>Loading …</p>`}
    ${data.value !== undefined && all.value.length === 0 && html`<${FirstStep} of="connectors" runtime=${runtime} />`}
    ${topics.length > 0 && html`<${TopologyPicture} topics=${topics} rows=${rows.value} runtime=${runtime} />`}
    ${
      topics.length > 0 &&
      html`<h2>Topics</h2><ul class="topology">
        ${topics
          .slice(0, LISTED_MAX)
          .map(
            (topic) =>
              html`<${TopicEntry} key=${topic.topic} topic=${topic} rows=${rows.value} runtime=${runtime} registry=${registry} />`,
          )}
      </ul>`
    }
    ${topics.length > LISTED_MAX && html`<p>${topics.length - LISTED_MAX} more: search for their names.</p>`}
  `
}

type TopicEntryProps = TopologyProps & {
  readonly topic: TopologyTopic
  readonly rows: ReadonlyMap<string, ConnectorRow>
}

function TopicEntry({
  topic: { topic, writers, readers, deadLettersOf, subjects },
  rows,
  runtime,
  registry,
}: TopicEntryProps) {
  const list = (title: string, names: readonly string[], isReader = false) =>
    names.length > 0 &&
    html`<dt>${title}</dt>
      ${names.map((name) => html`<dd key=${name}><${ConnectorEntry} row=${rows.get(name)} name=${name} runtime=${runtime} isReader=${isReader} /></dd>`)}`
  return html`<li>
    <h3><a href=${hrefOf(['topics', topic], { runtime: runtime.name })}><span class="hidden">topic </span>${topic}</a></h3>
    <dl>
      ${list('written by', writers)} ${list('dead letters of', deadLettersOf)} ${list('read by', readers, true)}
      ${
        subjects.length > 0 &&
        html`<dt>schemas</dt>${subjects.map(
          (subject) =>
            html`<dd key=${subject}>${
              registry === undefined || subject.endsWith('*')
                ? subject
                : html`<a href=${hrefOf(['subjects', subject], { runtime: registry.name })}>${subject}</a>`
            }</dd>`,
        )}`
      }
    </dl>
  </li>`
}

type ConnectorEntryProps = {
  readonly row: ConnectorRow | undefined
  readonly name: string
  readonly runtime: Runtime
  readonly isReader: boolean
}

function ConnectorEntry({ row, name, runtime, isReader }: ConnectorEntryProps) {
  const lag = row?.load?.lag
  return html`<a href=${hrefOf(['connectors', name], { runtime: runtime.name })}>${name}</a>
    ${' '}${row && html`<${StateBadge} state=${row.state} />`}${isReader && lag !== undefined && ` lag ${lag.toLocaleString('en')}`}`
}
