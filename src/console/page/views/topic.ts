import { counted, countedOf } from '../../../common/counted.ts'
import { SectionLinks } from '../components/section-links.ts'
import { VirtualTable } from '../components/virtual-table.ts'
import { html } from '../html.ts'
import { hrefOf, pageLocation } from '../location.ts'
import { pathSegment } from '../path-segment.ts'
import { useQuery } from '../queries.ts'
import { type Runtime, useRights, useSession } from '../session.ts'
import { bytesText, type GroupLag, type GroupListing, offsetSpan, type TopicInfo } from '../topics.ts'
import { TopicRecordsView } from './topic-records.ts'

type TopicProps = { readonly runtime: Runtime; readonly name: string }

const SECTIONS = [
  ['', 'Records'],
  ['partitions', 'Partitions'],
  ['groups', 'Consumer groups'],
  ['configuration', 'Configuration'],
] as const

/** One topic. The third part of the path selects what is shown of it. */
export function TopicView({ runtime, name }: TopicProps) {
  const path = `${runtime.basePath}/ui/api/topics/${pathSegment(name)}`
  const { data, error } = useQuery<TopicInfo>(path)
  const may = useRights('topics', name)
  const [, , section = ''] = pageLocation.value.path
  const topic = data.value
  return html`
    <p><a href=${hrefOf(['topics'], { runtime: runtime.name })}>Topics</a></p>
    <h1>${name}</h1>
    ${error.value && html`<p class="error" role="alert">${error.value.message}</p>`}
    ${topic && html`<${Summary} runtime=${runtime} topic=${topic} />`}
    <${SectionLinks} label="Sections of the topic" object=${['topics', name]} runtime=${runtime} sections=${SECTIONS} areKnown=${true} />
    ${section === '' && topic && html`<${TopicRecordsView} path=${path} topic=${topic} runtime=${runtime} mayRead=${may('read')} />`}
    ${section === 'partitions' && topic && html`<${Partitions} topic=${topic} />`}
    ${section === 'groups' && html`<${Groups} path=${path} />`}
    ${section === 'configuration' && topic && html`<${Configuration} topic=${topic} />`}
  `
}

/** Where the topic belongs: its connectors, and the subjects of its keys and values. */
function Summary({ runtime, topic }: { readonly runtime: Runtime; readonly topic: TopicInfo }) {
  const registry = useSession().data.value?.runtimes.find(({ kind }) => kind === 'registry')
  const { connectors, partitionCount } = topic
  return html`<p>${counted(partitionCount, 'partition')}.${
    connectors.length > 0 &&
    html` Used by ${connectors.map(
      (connector, at) =>
        html`${at > 0 && ', '}<a href=${hrefOf(['connectors', connector], { runtime: runtime.name })}>${connector}</a>`,
    )}.`
  } ${registry && html`<${Subjects} registry=${registry} topic=${topic.name} />`}</p>`
}

function Subjects({ registry, topic }: { readonly registry: Runtime; readonly topic: string }) {
  const { data } = useQuery<readonly string[]>(
    `${registry.basePath}/subjects?subjectPrefix=${encodeURIComponent(`${topic}-`)}`,
    { kind: 'subject' },
  )
  const subjects = [`${topic}-key`, `${topic}-value`].filter((subject) => data.value?.includes(subject))
  if (subjects.length === 0) return null
  return html`Schemas: ${subjects.map(
    (subject, at) =>
      html`${at > 0 && ', '}<a href=${hrefOf(['subjects', subject], { runtime: registry.name })}>${subject}</a>`,
  )}.`
}

function Partitions({ topic }: { readonly topic: TopicInfo }) {
  type Row = TopicInfo['partitions'][number]
  const known = (value: number | null) => (value === null ? 'unknown' : value.toLocaleString('en'))
  return html`<section aria-labelledby="partitions">
    <h2 id="partitions">Partitions</h2>
    ${topic.offsetsProblem && html`<p class="reason">Offsets are not known: ${topic.offsetsProblem}.</p>`}
    ${topic.sizesProblem && html`<p class="reason">Sizes are not known: ${topic.sizesProblem}.</p>`}
    ${topic.partitions.length < topic.partitionCount && html`<p>The first ${countedOf(topic.partitions.length, topic.partitionCount)}.</p>`}
    <${VirtualTable}
      label="Partitions"
      rows=${topic.partitions}
      keyOf=${({ partition }: Row) => String(partition)}
      empty="There are none."
      columns=${[
        { title: 'Partition', cell: ({ partition }: Row) => partition },
        { title: 'Offsets', width: 1.5, isNumber: true, cell: (row: Row) => known(offsetSpan(row)) },
        { title: 'First', isNumber: true, cell: ({ earliest }: Row) => known(earliest) },
        { title: 'End', isNumber: true, cell: ({ end }: Row) => known(end) },
        { title: 'Size', isNumber: true, cell: ({ bytes }: Row) => bytesText(bytes) },
        { title: 'Leader', isNumber: true, cell: ({ leader }: Row) => (leader < 0 ? 'none' : leader) },
        { title: 'Replicas', isNumber: true, cell: ({ replicas }: Row) => replicas },
      ]}
    />
  </section>`
}

function Groups({ path }: { readonly path: string }) {
  const { data, error } = useQuery<GroupListing>(`${path}/groups`)
  const listing = data.value
  return html`<section aria-labelledby="groups">
    <h2 id="groups">Consumer groups</h2>
    ${error.value && html`<p class="error" role="alert">${error.value.message}</p>`}
    ${listing === undefined && !error.value && html`<p>Loading …</p>`}
    ${listing && listing.askedGroups < listing.groupCount && html`<p>The first ${listing.askedGroups} of ${counted(listing.groupCount, 'group')} of the cluster are searched.</p>`}
    ${listing?.problems.map((problem) => html`<p key=${problem} class="reason">Not known of some groups: ${problem}.</p>`)}
    ${listing?.groups.length === 0 && html`<p>No group has committed an offset of this topic.</p>`}
    ${listing?.groups.map((group) => html`<${Group} key=${group.groupId} group=${group} />`)}
  </section>`
}

function Group({ group: { groupId, state, members, lag, partitions } }: { readonly group: GroupLag }) {
  return html`<details class="group"><summary><strong>${groupId}</strong> <span>lag ${lag.toLocaleString('en')}</span> <span class="reason">${
    state === null ? 'state unknown' : `${state}, ${counted(members ?? 0, 'member')}`
  }</span></summary>
    <table class="offsets" aria-label=${`Offsets of ${groupId}`}>
      <thead><tr><th scope="col">Partition</th><th scope="col">Offset</th><th scope="col">End</th><th scope="col">Lag</th></tr></thead>
      <tbody>${partitions.map(
        (one) =>
          html`<tr key=${one.partition}><th scope="row" data-title="Partition">${one.partition}</th><td data-title="Offset">${one.offset}</td><td data-title="End">${one.end}</td><td data-title="Lag">${one.lag}</td></tr>`,
      )}</tbody>
    </table>
  </details>`
}

function Configuration({ topic: { configs } }: { readonly topic: TopicInfo }) {
  return html`<section aria-labelledby="configuration">
    <h2 id="configuration">Configuration</h2>
    ${configs.problem && html`<p class="reason">It is not known: ${configs.problem}.</p>`}
    ${
      configs.value &&
      html`<p>Values in bold are set on the topic itself; the others are defaults of the brokers.</p>
      <dl class="config">${configs.value.map(
        ({ name, value, isOwn }) =>
          html`<dt key=${`${name} name`}>${name}</dt><dd key=${name}>${isOwn ? html`<strong>${value}</strong>` : value}</dd>`,
      )}</dl>`
    }
  </section>`
}
