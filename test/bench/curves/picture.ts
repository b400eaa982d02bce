import type { Curve, Line, Panel } from './curve.ts'

const PANEL = { width: 340, height: 240 }
const PLOT = { left: 56, top: 44, width: 260, height: 140 }
const FOOTER = 34
const LINE_HEIGHT = 14
/** Readable on light and on dark backgrounds; lines also differ in their dashes, and points in their shapes. */
const STYLE = `
  text { font: 11px system-ui, sans-serif; fill: #24292f }
  .title { font-size: 13px; font-weight: 600 }
  .faint { fill: #57606a }
  .grid { stroke: #d0d7de; stroke-width: 1 }
  .line { fill: none; stroke-width: 2 }
  .line-0 { stroke: #0969da } .point-0 { fill: #0969da }
  .line-1 { stroke: #bc4c00; stroke-dasharray: 6 4 } .point-1 { fill: #bc4c00 }
  .line-2 { stroke: #1a7f37; stroke-dasharray: 2 3 } .point-2 { fill: #1a7f37 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .faint { fill: #9198a1 } .grid { stroke: #3d444d }
    .line-0 { stroke: #4493f8 } .point-0 { fill: #4493f8 }
    .line-1 { stroke: #f0883e } .point-1 { fill: #f0883e }
    .line-2 { stroke: #3fb950 } .point-2 { fill: #3fb950 }
  }`

/** Draws a curve as SVG. `measured` describes the machine and the date. */
export function toSvg(curve: Curve, measured: string): string {
  const width = PANEL.width * curve.panels.length
  const height = PANEL.height + FOOTER
  const values = curve.panels.flatMap(({ title, unit, lines }) =>
    lines.map(({ name, points }) => `${title}, ${name}: ${points.map((point) => described(point, unit)).join(', ')}.`),
  )
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title description">`,
    `<title id="title">${escaped(curve.title)}</title>`,
    `<desc id="description">${escaped(`${measured}. Values by ${curve.size}. ${values.join(' ')}`)}</desc>`,
    `<style>${STYLE}\n</style>`,
    ...curve.panels.map((panel, at) => drawn(panel, curve.size, at * PANEL.width)),
    text(PLOT.left, height - 8, escaped(measured), 'class="faint"'),
    '</svg>\n',
  ].join('\n')
}

function described([size, value]: readonly [number, number], unit: string): string {
  return `${size}: ${exact(value)} ${unit}`
}

function drawn({ title, unit, lines }: Panel, size: string, left: number): string {
  const points = lines.flatMap((line) => line.points)
  const xs = ticks(Math.max(...points.map(([x]) => x)))
  const ys = ticks(Math.max(...points.map(([, y]) => y)))
  const x = (value: number) => round(PLOT.left + (value / xs.at(-1)!) * PLOT.width)
  const y = (value: number) => round(PLOT.top + PLOT.height * (1 - value / ys.at(-1)!))
  const [right, bottom] = [PLOT.left + PLOT.width, PLOT.top + PLOT.height]
  return [
    `<g transform="translate(${left} 0)">`,
    text(PLOT.left, 16, escaped(`${title}${unit === '' ? '' : `, ${unit}`}`), 'class="title"'),
    ...ys.map((value) => `<line class="grid" x1="${PLOT.left}" x2="${right}" y1="${y(value)}" y2="${y(value)}"/>`),
    ...ys.map((value) => text(PLOT.left - 6, y(value) + 4, short(value), 'text-anchor="end" class="faint"')),
    ...xs.map((value) => text(x(value), bottom + 16, short(value), 'text-anchor="middle" class="faint"')),
    text(right, bottom + 32, escaped(size), 'text-anchor="end" class="faint"'),
    ...lines.map((line, at) => drawnLine(line, at, x, y)),
    ...lines.map(({ name }, at) => legend(name, at)),
    '</g>',
  ].join('\n')
}

type Scale = (value: number) => number

function drawnLine({ points }: Line, at: number, x: Scale, y: Scale): string {
  const path = points.map(([size, value]) => `${x(size)},${y(value)}`).join(' ')
  const marks = points.map(([size, value]) => marker(at, x(size), y(value)))
  return [`<polyline class="line line-${at}" points="${path}"/>`, ...marks].join('')
}

/** A disc, a square or a triangle. */
function marker(at: number, x: number, y: number): string {
  if (at === 0) return `<circle class="point-0" cx="${x}" cy="${y}" r="3.5"/>`
  if (at === 1) return `<rect class="point-1" x="${x - 3.5}" y="${y - 3.5}" width="7" height="7"/>`
  return `<path class="point-2" d="M${x} ${y - 4}l4 7h-8z"/>`
}

/** Below the title, from left to right. */
function legend(name: string, at: number): string {
  const x = PLOT.left + at * 120
  const y = 16 + LINE_HEIGHT
  const line = `<line class="line line-${at}" x1="${x}" x2="${x + 18}" y1="${y - 4}" y2="${y - 4}"/>`
  return `${line}${marker(at, x + 9, y - 4)}${text(x + 24, y, escaped(name), '')}`
}

function text(x: number, y: number, content: string, attributes: string): string {
  return `<text x="${round(x)}" y="${round(y)}"${attributes && ` ${attributes}`}>${content}</text>`
}

/** Values from 0 to the first multiple of a round step that is not below the largest value. */
function ticks(largest: number): readonly number[] {
  const rough = (largest || 1) / 4
  const unit = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * unit).find((candidate) => candidate >= rough)!
  return Array.from({ length: Math.ceil(largest / step) + 1 }, (_, at) => at * step)
}

function short(value: number): string {
  if (value >= 1e6) return `${exact(value / 1e6)} M`
  return value >= 1e4 ? `${exact(value / 1e3)} k` : String(exact(value))
}

function exact(value: number): number {
  return Number(value.toPrecision(3))
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
