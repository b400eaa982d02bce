/** Encodings of the platform by MySQL's names of character sets. MySQL's latin1 is Windows-1252. */
const ENCODINGS: Readonly<Record<string, string>> = {
  latin1: 'windows-1252',
  latin2: 'iso-8859-2',
  latin5: 'windows-1254',
  latin7: 'iso-8859-13',
  greek: 'iso-8859-7',
  hebrew: 'iso-8859-8',
  cp1250: 'windows-1250',
  cp1251: 'windows-1251',
  cp1256: 'windows-1256',
  cp1257: 'windows-1257',
  cp866: 'ibm866',
  koi8r: 'koi8-r',
  koi8u: 'koi8-u',
  macroman: 'macintosh',
  tis620: 'windows-874',
  big5: 'big5',
  gbk: 'gbk',
  gb2312: 'gbk',
  gb18030: 'gb18030',
  sjis: 'shift_jis',
  cp932: 'shift_jis',
  ujis: 'euc-jp',
  eucjpms: 'euc-jp',
  euckr: 'euc-kr',
  ucs2: 'utf-16be',
  utf16: 'utf-16be',
  utf16le: 'utf-16le',
}

/** Returns the decoder of texts in a character set. Throws for one that is not known. */
export function charsetDecoder(charset: string): (bytes: Buffer) => string {
  switch (charset) {
    case 'utf8':
    case 'utf8mb3':
    case 'utf8mb4':
    case 'ascii':
      return (bytes) => bytes.toString('utf8')
    case 'binary':
      return (bytes) => bytes.toString('latin1')
    case 'utf32':
      return utf32Text
    default: {
      const encoding = ENCODINGS[charset]
      if (encoding === undefined) throw new Error(`the character set ${charset} is not supported`)
      const decoder = new TextDecoder(encoding, { ignoreBOM: true })
      return (bytes) => decoder.decode(bytes)
    }
  }
}

function utf32Text(bytes: Buffer): string {
  let text = ''
  for (let at = 0; at + 4 <= bytes.length; at += 4) text += String.fromCodePoint(bytes.readUInt32BE(at))
  return text
}
