import type { z } from 'zod'
import type { SettingsSpec } from '../../src/config/settings.ts'

/** Generates the reference page of a program's settings from their definitions. */
export function settingsPage(title: string, intro: string, spec: SettingsSpec<z.ZodObject>): string {
  const rows = Object.entries(spec.shape.shape).map(([key, type]) => settingRow(key, type as z.ZodType))
  return [
    `# ${title}\n\n${intro}\n`,
    '| Setting | Takes | Default | Meaning |\n| --- | --- | --- | --- |',
    `${rows.join('\n')}\n`,
    '## Other names\n',
    ...Object.entries(spec.aliases).map(([alias, name]) => `- \`${alias}\` is \`${name}\``),
    '\n## Without effect\n\nTaken, warned of, and nothing else:\n',
    ...Object.entries(spec.withoutEffect ?? {}).map(([key, reason]) => `- \`${key}\`: ${reason}`),
    '',
  ].join('\n')
}

function settingRow(key: string, type: z.ZodType): string {
  const initial = defaultOf(type)
  const cells = [`\`${key}\``, takesOf(type), initial === '' ? '' : `\`${initial}\``, type.description ?? '']
  if (type.description === undefined) throw new Error(`${key} says nothing of itself`)
  return `| ${cells.join(' | ')} |`
}

/** The `takes` metadata of the outermost type that has it. */
function takesOf(type: z.ZodType): string {
  const takes = type.meta()?.['takes']
  const inner = (type.def as { innerType?: z.ZodType }).innerType
  return typeof takes === 'string' ? takes : inner ? takesOf(inner) : 'text'
}

function defaultOf(type: z.ZodType): string {
  const result = type.safeParse(undefined)
  return result.success && result.data !== undefined ? [result.data].flat().join(',') : ''
}
