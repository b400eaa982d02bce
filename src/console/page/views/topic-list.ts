import { countedOf } from '../../../common/counted.ts'
import { FirstStep } from '../components/first-step.ts'
import { valueInto } from '../components/log-in.ts'
import { VirtualTable } from '../components/virtual-table.ts'
import { html } from '../html.ts'
import { hrefOf, pageLocation, setFilter } from '../location.ts'
import { useQuery } from '../queries.ts'
import type { Runtime } from '../session.ts'
import {
  bytesText,
  type ListedTopic,
  retentionText,
  TOPICS_PER_PAGE,
  type TopicListing,
  topicListPath,
} from '../topics.ts'

/** The topics of the cluster that a worker uses, in pages. The filters are in the URL. */
export function TopicList({ runtime }: { readonly runtime: Runtime }) {
  const { filters, path } = pageLocation.value
  const { data, error } = useQuery<TopicListing>(topicListPath(runtime.basePath, filters))
  const { topics = [], total = 0, sizesProblem, configsProblem } = data.value ?? {}
  const offset = Number(filters['offset'] ?? 0)
  const isInternal = filters['internal'] === 'true'
  const pageAt = (at: number) => hrefOf(path, { ...filters, offset: at <= 0 ? '' : String(at) })
  const search = (value: string) => {
    setFilter('offset', '')
    setFilter('search', value)
  }
  return html`
    <h1>Topics</h1>
    <form class="filters" role="search" aria-label="Topics" onSubmit=${(event: Event) => event.preventDefault()}>
      <label>Search <input type="search" value=${filters['search'] ?? ''} onInput=${valueInto(search)} /></label>
      <label class="check"><input type="checkbox" checked=${isInternal}
        onChange=${() => setFilter('internal', isInternal ? '' : 'true')} /> internal topics, too</label>
      <span role="status">${total === 0 ? 'none' : `${offset + 1} to ${countedOf(offset + topics.length, total)}`}</span>
      ${offset > 0 && html`<a class="button" href=${pageAt(offset - TOPICS_PER_PAGE)}>Previous<span class="hidden"> topics</span></a>`}
      ${offset + topics.length < total && html`<a class="button" href=${pageAt(offset + TOPICS_PER_PAGE)}>Next<span class="hidden"> topics</span></a>`}
    </form>
    ${error.value && html`<p class="error" role="alert">${error.value.status === 404 ? 'This runtime does not show topics.' : error.value.message}</p>`}
    ${sizesProblem && html`<p class="reason">Sizes are not known: ${sizesProblem}.</p>`}
    ${configsProblem && html`<p class="reason">The retention of some topics is not known: ${configsProblem}.</p>`}
    ${total === 0 && data.value !== undefined && !filters['search'] && html`<${FirstStep} of="topics" runtime=${runtime} />`}
    <${VirtualTable}
      label="Topics"
      rows=${topics}
      keyOf=${({ name }: ListedTopic) => name}
      empty=${data.value === undefined ? 'Loading …' : 'No topic matches.'}
      columns=${[
        {
          title: 'Topic',
          width: 4,
          cell: ({ name }: ListedTopic) =>
            html`<a href=${hrefOf(['topics', name], { runtime: filters['runtime'] ?? '' })}>${name}</a>`,
        },
        { title: 'Partitions', isNumber: true, cell: ({ partitions }: ListedTopic) => partitions },
        { title: 'Replicas', isNumber: true, cell: ({ replicas }: ListedTopic) => replicas },
        { title: 'Size', isNumber: true, cell: ({ bytes }: ListedTopic) => bytesText(bytes) },
        { title: 'Retention', width: 1.5, cell: ({ configs }: ListedTopic) => retentionText(configs) },
      ]}
    />
  `
}
