import { DEVICES } from './devices.ts'
import { PEOPLE } from './people.ts'
import { TRADE } from './trade.ts'

// The quickstarts have the names, fields and keys of those in Confluent's Datagen connector. Their values are our own.

const TABLE = { ...TRADE, ...PEOPLE, ...DEVICES }
export type QuickstartName = keyof typeof TABLE

export const QUICKSTART_NAMES = Object.keys(TABLE) as [QuickstartName, ...QuickstartName[]]

/** Returns the schema of a quickstart and the name of its key field. */
export function quickstart(name: QuickstartName): { readonly avroText: string; readonly keyField: string } {
  const [keyField, avro] = TABLE[name]
  return { avroText: JSON.stringify({ ...(avro as object), namespace: 'ksql' }), keyField }
}
