import { counted } from '../../../common/counted.ts'
import { html } from '../html.ts'
import { type GraphNode, layOutReferences, NODE_SIZE, type VersionName } from '../reference-graph.ts'

export type ReferencePictureProps = {
  readonly center: VersionName
  readonly referrers: readonly VersionName[]
  readonly references: readonly VersionName[]
}

/** References in both directions. The lists beside it have the same content with links. */
export function ReferencePicture({ center, referrers, references }: ReferencePictureProps) {
  const { width, height, nodes, hidden } = layOutReferences(center, referrers, references)
  const middle = nodes.find(({ kind }) => kind === 'center')
  const title = `${counted(referrers.length, 'schema')} ${referrers.length === 1 ? 'refers' : 'refer'} to ${center.subject} version ${center.version}, which refers to ${references.length}.`
  return html`<figure class="references" tabindex="0" aria-label="Graph of references">
    <svg width=${width} height=${height} viewBox=${`0 0 ${width} ${height}`} role="img" aria-label=${title}>
      ${middle && nodes.map((node) => node.kind !== 'center' && html`<path class="edge" d=${edge(node, middle)} />`)}
      ${nodes.map(
        (node) => html`<g class=${`node ${node.kind}`} transform=${`translate(${node.x} ${node.y})`}>
          <title>${node.subject} version ${node.version}</title>
          <rect width=${NODE_SIZE.width} height=${NODE_SIZE.height} rx="6" />
          <text x="10" y=${NODE_SIZE.height / 2} dominant-baseline="central">${node.title}</text>
        </g>`,
      )}
    </svg>
    ${hidden > 0 && html`<figcaption>${hidden} more are in the lists.</figcaption>`}
  </figure>`
}

/** From the right side of the schema that refers to the left side of the one that it needs, with an arrow head. */
function edge(node: GraphNode, center: GraphNode): string {
  const [from, to] = node.kind === 'referrer' ? [node, center] : [center, node]
  const [startX, startY] = [from.x + NODE_SIZE.width, from.y + NODE_SIZE.height / 2]
  const [endX, endY] = [to.x, to.y + NODE_SIZE.height / 2]
  const bend = (startX + endX) / 2
  return `M${startX} ${startY}C${bend} ${startY} ${bend} ${endY} ${endX} ${endY}m-7 -4l7 4l-7 4`
}
