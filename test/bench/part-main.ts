import { isPartName, PARTS } from './parts.ts'
import type { Settings } from './settings.ts'

/**
 * Runs one part of the benchmark in a process of its own and sends its figures to the parent process. So a part can be
 * stopped, it does not run with the code and the garbage of others, and all that it has started ends with it.
 */
const [name = '', settings = ''] = process.argv.slice(2)
if (!isPartName(name) || process.send === undefined) throw new Error(`the benchmark has no part '${name}'`)
const measure = await PARTS[name].load()
const figures = await measure(JSON.parse(settings) as Settings)
await new Promise((resolve) => process.send!(figures, resolve))
process.exit()
