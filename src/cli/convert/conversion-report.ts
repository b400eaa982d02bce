import { type DocumentPath, formatDocumentPath } from '../../common/document-path.ts'
import { printableText } from '../terminal/printable-text.ts'
import type { SourceDocument, SourceError } from './source-document.ts'

/**
 * - `failed`: a document, or a resource of it, is not converted.
 * - `lost`: a field has no counterpart or a value that cannot be converted.
 * - `note`: nothing is lost, but the reader should know.
 */
export type ConversionFindingKind = 'failed' | 'lost' | 'note'

/** What the conversion reports about one field, with what to do. */
export type ConversionFinding = {
  readonly kind: ConversionFindingKind
  readonly file: string
  readonly line: number
  /** Path of the field, such as `spec.connectRest`; empty for the whole document. */
  readonly field: string
  readonly message: string
}

/** Collects what could not be converted. */
export class ConversionReport {
  readonly #findings: ConversionFinding[] = []

  add(kind: ConversionFindingKind, document: SourceDocument, path: DocumentPath, message: string): void {
    this.#findings.push({
      kind,
      file: document.file,
      line: document.lineOf(path),
      field: formatDocumentPath(path),
      message,
    })
  }

  addError({ file, line, message }: SourceError): void {
    this.#findings.push({ kind: 'failed', file, line, field: '', message })
  }

  /** By file in the order of the input, then by line. */
  findings(): readonly ConversionFinding[] {
    const order = new Map([...new Set(this.#findings.map(({ file }) => file))].map((file, at) => [file, at]))
    return this.#findings.toSorted((a, b) => order.get(a.file)! - order.get(b.file)! || a.line - b.line)
  }
}

export function formatConversionFinding({ kind, file, line, field, message }: ConversionFinding): string {
  const where = field === '' ? '' : `${field}: `
  return printableText(`${file}:${line}: ${kind === 'note' ? 'note: ' : ''}${where}${message}`, '\n')
}
