import { CURVES, type CurveName } from './curves/curves.ts'
import { PARTS, type PartName } from './parts.ts'
import type { Settings } from './settings.ts'

/** A part or a curve of the benchmark, as the first arguments of this process. */
export type Work = readonly [kind: 'part', name: PartName] | readonly [kind: 'curve', name: CurveName]

/**
 * Measures one part or curve in a process of its own and sends the result to the parent process. So it can be stopped, it
 * does not run with the code and the garbage of others, and all that it has started ends with it.
 */
const [kind, name, settings = ''] = process.argv.slice(2) as [...Work, string]
if (process.send === undefined) throw new Error('this process is started by npm run bench')
const measure = await (kind === 'part' ? PARTS[name] : CURVES[name]).load()
const result = await measure(JSON.parse(settings) as Settings)
await new Promise((resolve) => process.send!(result, resolve))
process.exit()
