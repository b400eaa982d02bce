import { DEVICES } from './devices.ts'
import { PEOPLE } from './people.ts'
import { TRADE } from './trade.ts'

// The names, fields and keys of the quickstarts that are known from Confluent's Datagen; their words are our own.

const TABLE = { ...TRADE, ...PEOPLE, ...DEVICES }
export type QuickstartName = keyof typeof TABLE

export const QUICKSTART_NAMES = Object.keys(TABLE) as [QuickstartName, ...QuickstartName[]]

/** The schema of a quickstart, and which field is the key. */
export function quickstart(name: QuickstartName): { readonly avroText: string; readonly keyField: string } {
  const [keyField, avro] = TABLE[name]
  return { avroText: JSON.stringify({ ...(avro as object), namespace: 'ksql' }), keyField }
}
