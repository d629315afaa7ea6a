<?xml version="1.0"?>
<!-- Sorts books, groups them by author, counts words, and prints all as HTML. -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:output method="html" indent="yes"/>
  <xsl:key name="by-author" match="book" use="author"/>
  <xsl:template match="/library">
    <html><body>
      <h1><xsl:value-of select="count(book)"/> books</h1>
      <xsl:for-each select="book[generate-id() = generate-id(key('by-author', author)[1])]">
        <xsl:sort select="author"/>
        <h2><xsl:value-of select="author"/></h2>
        <table>
          <xsl:apply-templates select="key('by-author', author)">
            <xsl:sort select="@year" data-type="number" order="descending"/>
            <xsl:sort select="title"/>
          </xsl:apply-templates>
        </table>
      </xsl:for-each>
    </body></html>
  </xsl:template>
  <xsl:template match="book">
    <tr id="{@id}">
      <td><xsl:value-of select="@year"/></td>
      <td><xsl:value-of select="translate(title, 'abcdefgh', 'ABCDEFGH')"/></td>
      <td>
        <xsl:call-template name="words"><xsl:with-param name="text" select="about"/></xsl:call-template>
      </td>
    </tr>
  </xsl:template>
  <xsl:template name="words">
    <xsl:param name="text"/>
    <xsl:param name="count" select="1"/>
    <xsl:choose>
      <xsl:when test="contains($text, ' ')">
        <xsl:call-template name="words">
          <xsl:with-param name="text" select="substring-after($text, ' ')"/>
          <xsl:with-param name="count" select="$count + 1"/>
        </xsl:call-template>
      </xsl:when>
      <xsl:otherwise><xsl:value-of select="$count"/></xsl:otherwise>
    </xsl:choose>
  </xsl:template>
</xsl:stylesheet>
