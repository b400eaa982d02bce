/** A version of a subject. */
export type VersionName = { readonly subject: string; readonly version: number }

export type GraphNode = VersionName & {
  readonly kind: 'referrer' | 'center' | 'reference'
  readonly x: number
  readonly y: number
  readonly title: string
}

/** The picture of what refers to a version (left) and to what it refers (right). Sizes are in pixels. */
export type ReferenceGraph = {
  readonly width: number
  readonly height: number
  readonly nodes: readonly GraphNode[]
  /** How many nodes do not fit. */
  readonly hidden: number
}

export const NODE_SIZE = { width: 220, height: 30 } as const
const GAP = { x: 70, y: 12 }
const MARGIN = 4
const SIDE_MAX = 12
const TITLE_MAX = 28

export function layOutReferences(
  center: VersionName,
  referrers: readonly VersionName[],
  references: readonly VersionName[],
): ReferenceGraph {
  const rows = Math.max(1, Math.min(SIDE_MAX, Math.max(referrers.length, references.length)))
  const height = rows * (NODE_SIZE.height + GAP.y) - GAP.y + 2 * MARGIN
  const column = (kind: GraphNode['kind'], at: number, all: readonly VersionName[]): readonly GraphNode[] => {
    const shown = all.slice(0, SIDE_MAX)
    const used = shown.length * (NODE_SIZE.height + GAP.y) - GAP.y
    return shown.map((one, row) => ({
      ...one,
      kind,
      x: MARGIN + at * (NODE_SIZE.width + GAP.x),
      y: (height - used) / 2 + row * (NODE_SIZE.height + GAP.y),
      title: titleOf(one),
    }))
  }
  const columns = [
    ...(referrers.length > 0 ? [['referrer', referrers] as const] : []),
    ['center', [center]] as const,
    ...(references.length > 0 ? [['reference', references] as const] : []),
  ]
  return {
    width: columns.length * (NODE_SIZE.width + GAP.x) - GAP.x + 2 * MARGIN,
    height,
    nodes: columns.flatMap(([kind, all], at) => column(kind, at, all)),
    hidden: Math.max(0, referrers.length - SIDE_MAX) + Math.max(0, references.length - SIDE_MAX),
  }
}

/** The end of a name says more than its beginning, which is a namespace. */
function titleOf({ subject, version }: VersionName): string {
  const characters = [...subject]
  const name = characters.length > TITLE_MAX ? `…${characters.slice(1 - TITLE_MAX).join('')}` : subject
  return `${name} ${version}`
}
