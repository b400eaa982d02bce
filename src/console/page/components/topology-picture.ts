import { counted } from '../../../common/counted.ts'
import { toneOf } from '../../../common/state-glossary.ts'
import type { ConnectorRow } from '../connector-rows.ts'
import { html } from '../html.ts'
import { hrefOf } from '../location.ts'
import type { Runtime } from '../session.ts'
import {
  layOutTopology,
  PICTURE_TOPICS_MAX,
  TOPOLOGY_NODE,
  type TopologyEdge,
  type TopologyNode,
  type TopologyTopic,
} from '../topology.ts'

type TopologyPictureProps = {
  readonly topics: readonly TopologyTopic[]
  readonly rows: ReadonlyMap<string, ConnectorRow>
  readonly runtime: Runtime
}

/** The topics with their connectors. The list below has the same content with states, for screen readers and narrow screens. */
export function TopologyPicture({ topics, rows, runtime }: TopologyPictureProps) {
  const { width, height, nodes, edges } = layOutTopology(topics)
  const subjects = new Map(topics.map((one) => [one.topic, one.subjects.join(', ')]))
  const first = new Map(edges.toReversed().map((edge) => [edge.to, edge]))
  const labelOf = (edge: TopologyEdge) => {
    const { to, isDeadLetters } = edge
    if (isDeadLetters) return 'dead letters'
    // All edges to a topic have the same subjects.
    if (to.kind === 'topic') return first.get(to) === edge ? truncated(subjects.get(to.name) ?? '') : ''
    const lag = rows.get(to.name)?.load?.lag
    return lag === undefined || lag === 0 ? '' : `lag ${lag.toLocaleString('en')}`
  }
  const title = `${counted(topics.length, 'topic')} with the connectors that write and read them. The list has the same content.`
  return html`<figure class="references topology-picture" tabindex="0" role="group" aria-label=${title}>
    <svg width=${width} height=${height} viewBox=${`0 0 ${width} ${height}`} aria-hidden="true">
      ${edges.map(
        (edge) => html`<g key=${`${edge.from.name} ${edge.to.name} ${edge.from.kind}`}>
        <title>${subjects.get(edge.from.kind === 'topic' ? edge.from.name : edge.to.name)}</title>
        <path class=${edge.isDeadLetters ? 'edge dead' : 'edge'} d=${edgePath(edge)} />
        <text class="label" x=${edge.to.x - 12} y=${edge.to.y + TOPOLOGY_NODE.height / 2 - 5} text-anchor="end">${labelOf(edge)}</text>
      </g>`,
      )}
      ${nodes.map((node) => html`<${Node} key=${`${node.kind} ${node.x} ${node.name}`} node=${node} state=${rows.get(node.name)?.state} runtime=${runtime} />`)}
    </svg>
    ${topics.length > PICTURE_TOPICS_MAX && html`<figcaption>The picture has the first ${PICTURE_TOPICS_MAX} topics. A search narrows them.</figcaption>`}
  </figure>`
}

type NodeProps = { readonly node: TopologyNode; readonly state: string | undefined; readonly runtime: Runtime }

function Node({ node, state = '', runtime }: NodeProps) {
  const isConnector = node.kind === 'connector'
  const shape = html`<title>${isConnector ? `${node.name}: ${state}` : node.name}</title>
    <rect width=${TOPOLOGY_NODE.width} height=${TOPOLOGY_NODE.height} rx=${isConnector ? 6 : 14} />
    <text x="12" y=${TOPOLOGY_NODE.height / 2} dominant-baseline="central">${node.title}</text>`
  return html`<g class=${`node ${isConnector ? toneOf(state) : 'topic'}`} transform=${`translate(${node.x} ${node.y})`}>
    ${isConnector ? html`<a href=${hrefOf(['connectors', node.name], { runtime: runtime.name })} tabindex="-1">${shape}</a>` : shape}
  </g>`
}

/** From the right side of a node to the left side of the next, with an arrow head. */
function edgePath({ from, to }: TopologyEdge): string {
  const [startX, startY] = [from.x + TOPOLOGY_NODE.width, from.y + TOPOLOGY_NODE.height / 2]
  const [endX, endY] = [to.x, to.y + TOPOLOGY_NODE.height / 2]
  const bend = (startX + endX) / 2
  return `M${startX} ${startY}C${bend} ${startY} ${bend} ${endY} ${endX} ${endY}m-7 -4l7 4l-7 4`
}

const LABEL_MAX = 19

function truncated(text: string): string {
  return text.length > LABEL_MAX ? `${text.slice(0, LABEL_MAX - 1)}…` : text
}
