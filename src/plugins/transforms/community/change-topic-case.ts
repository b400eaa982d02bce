import { defineTransform, z } from '../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../shipped-version.ts'
import { exactWordField } from '../struct-access.ts'
import { COMMUNITY_PACKAGE } from './community-package.ts'

type Style = {
  /** Matches where a word begins, or the separator before it. */
  readonly boundary: RegExp
  readonly separator: string
  readonly first: (word: string) => string
  readonly other: (word: string) => string
}

const lower = (word: string) => word.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
const upper = (word: string) => word.replace(/[a-z]/g, (letter) => letter.toUpperCase())
const title = (word: string) => upper(word.slice(0, 1)) + lower(word.slice(1))

const STYLES = {
  LOWER_HYPHEN: { boundary: /-/g, separator: '-', first: lower, other: lower },
  LOWER_UNDERSCORE: { boundary: /_/g, separator: '_', first: lower, other: lower },
  LOWER_CAMEL: { boundary: /[A-Z]/g, separator: '', first: lower, other: title },
  UPPER_CAMEL: { boundary: /[A-Z]/g, separator: '', first: title, other: title },
  UPPER_UNDERSCORE: { boundary: /_/g, separator: '_', first: upper, other: upper },
} as const satisfies Readonly<Record<string, Style>>
type StyleName = keyof typeof STYLES
const NAMES = Object.keys(STYLES) as [StyleName, ...StyleName[]]

/** ChangeTopicCase of kafka-connect-transform-common. */
export const changeTopicCase = defineTransform({
  class: 'ChangeTopicCase',
  aliases: [`${COMMUNITY_PACKAGE}.ChangeTopicCase`],
  version: SHIPPED_VERSION,
  summary: "Changes the case of the record's topic: ORDER_LINES to orderLines.",
  notes: 'The results are those of CaseFormat in Google Guava.',
  config: z.object({
    from: exactWordField(NAMES, { doc: 'Case of the topic.', importance: 'HIGH' }),
    to: exactWordField(NAMES, { doc: 'Case of the new topic.', importance: 'HIGH' }),
  }),
  create: ({ from, to }) => {
    return (record) => (from === to ? record : { ...record, topic: converted(record.topic, STYLES[from], STYLES[to]) })
  },
})

/** A word before the first boundary is dropped if another one begins at it, as in Guava. */
function converted(text: string, from: Style, to: Style): string {
  let made = ''
  let start = 0
  for (const { index } of text.matchAll(from.boundary)) {
    const word = text.slice(start, index)
    made = (start === 0 ? to.first(word) : made + to.other(word)) + to.separator
    start = index + from.separator.length
  }
  return start === 0 ? to.first(text) : made + to.other(text.slice(start))
}
